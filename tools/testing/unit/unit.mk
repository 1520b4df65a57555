# SPDX-License-Identifier: GPL-2.0
#
# Native tests; each fragment adds the programs it builds to UNIT_TESTS.

-include tools/testing/unit/lib.mk
-include tools/testing/unit/recorder.mk
-include tools/testing/unit/storage.mk
-include tools/testing/unit/export.mk
