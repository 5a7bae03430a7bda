// SPDX-License-Identifier: MIT
// Undoes host_width.h.
#undef HOST_
#undef HOST_TARGET
#undef HOST_VW
#undef HOST_ISA
