# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make carson`: Carson and Reno on the dumbbell of Kannan's thesis; build/reports/carson.json."""
