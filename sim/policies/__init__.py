# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make policies`: each policy's RTL against its golden model, question by question and as the engine asks."""
