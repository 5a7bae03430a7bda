#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln_find and kiln_open on 10,000 rows stay within their limits.
# Alone: times them.
exec "$BUILD/tests/find_bench" --check
