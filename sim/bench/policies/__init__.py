# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make policies`: each policy's RTL against its golden model, request by request and as the engine asks."""
