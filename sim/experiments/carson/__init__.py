# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=carson`: Carson and Reno on the dumbbell of Kannan's thesis; build/reports/carson.json."""
