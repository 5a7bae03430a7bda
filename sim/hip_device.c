// SPDX-License-Identifier: MIT
// The simulated devices: which there are, what they say of themselves, which one a thread uses.
// Figures are of AMD's MI300X (gfx942) and MI210 (gfx90a); memory is what the host has, where that
// is less.
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "hip.h"

/* ORDER: ks_arch */
static const khip_chip chip[KS_ARCH_COUNT] = {
    [KS_GFX90A] = {.name = "AMD Instinct MI210 (simulated)",
                   .target = "gfx90a:sramecc+:xnack-",
                   .number = 910,
                   .major = 9,
                   .minor = 0,
                   .units = 104,
                   .clock = 1700000,
                   .memory_clock = 1600000,
                   .bus = 4096,
                   .l2 = 8 << 20,
                   .memory = 64ull << 30},
    [KS_GFX942] = {.name = "AMD Instinct MI300X (simulated)",
                   .target = "gfx942:sramecc+:xnack-",
                   .number = 942,
                   .major = 9,
                   .minor = 4,
                   .units = 304,
                   .clock = 2100000,
                   .memory_clock = 1300000,
                   .bus = 8192,
                   .l2 = 4 << 20,
                   .memory = 192ull << 30},
};
/* One of each, or, as KILN_SIM=arch=...,devices=... says, one kind as often as it says. */
static const khip_device both[KS_ARCH_COUNT] = {{KS_GFX942, &chip[KS_GFX942]},
                                                {KS_GFX90A, &chip[KS_GFX90A]}};
static _Thread_local int current;
_Static_assert((int)KHIP_DEVICES == (int)KS_MOST_DEVICES, "options.c's limit");

int khip_device_count(void)
{
    const ks_options *o = ks_options_get();
    return o->devices ? (int)o->devices : o->arch < 0 ? KS_ARCH_COUNT : 1;
}

const khip_device *khip_device_of(int ordinal)
{
    const ks_options *o = ks_options_get();
    if (ordinal < 0 || ordinal >= khip_device_count()) return NULL;
    if (o->arch < 0) return o->devices ? &both[0] : &both[ordinal];
    return both[0].arch == (ks_arch)o->arch ? &both[0] : &both[1];
}

const khip_chip *khip_chip_of(ks_arch arch)
{
    return &chip[arch];
}

int khip_units(const khip_chip *c)
{
    const unsigned units = ks_options_get()->units;
    return units ? (int)units : c->units;
}

int khip_current(void)
{
    return current;
}

uint64_t khip_total_memory(const khip_device *d)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || size <= 0) return d->chip->memory;
    const uint64_t host = (uint64_t)pages * (uint64_t)size;
    return host < d->chip->memory ? host : d->chip->memory;
}

/* ---- which ---- */

HIP(hipInit, (unsigned flags), (flags))
{
    return flags ? E_InvalidValue : 0;
}

HIP(hipGetDeviceCount, (int *count), (count))
{
    if (!count) return E_InvalidValue;
    *count = khip_device_count();
    return 0;
}

HIP(hipDeviceGet, (int *device, int ordinal), (device, ordinal))
{
    if (!device) return E_InvalidValue;
    if (!khip_device_of(ordinal)) return E_InvalidDevice;
    *device = ordinal;
    return 0;
}

HIP(hipGetDevice, (int *device), (device))
{
    if (!device) return E_InvalidValue;
    *device = current;
    return 0;
}

int khip_set_device(int ordinal)
{
    if (!khip_device_of(ordinal)) return E_InvalidDevice;
    current = ordinal;
    return 0;
}

HIP(hipSetDevice, (int device), (device))
{
    return khip_set_device(device);
}

HIP(hipSetDeviceFlags, (unsigned flags), (flags))
{
    enum { KNOWN = 0x1f };
    return flags & ~(unsigned)KNOWN ? E_InvalidValue : 0;
}

HIP(hipGetDeviceFlags, (unsigned *flags), (flags))
{
    if (!flags) return E_InvalidValue;
    *flags = 0;
    return 0;
}

/* ---- versions ---- */

enum { VERSIONS = 3 };
static int version(int *out)
{
    static const int of_abi[VERSIONS] = {50221153, 60000000, 70000000}; /* 5, 6, 7 */
    if (!out) return E_InvalidValue;
    *out = of_abi[khip_abi() - 5];
    return 0;
}

HIP(hipDriverGetVersion, (int *out), (out))
{
    return version(out);
}

HIP(hipRuntimeGetVersion, (int *out), (out))
{
    return version(out);
}

/* ---- what ---- */

HIP(hipDeviceGetName, (char *name, int size, int device), (name, size, device))
{
    const khip_device *d = khip_device_of(device);
    if (!name || size <= 0) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    snprintf(name, (size_t)size, "%s", d->chip->name);
    return 0;
}

HIP(hipDeviceTotalMem, (size_t * bytes, int device), (bytes, device))
{
    const khip_device *d = khip_device_of(device);
    if (!bytes) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    *bytes = khip_total_memory(d);
    return 0;
}

HIP(hipDeviceComputeCapability, (int *major, int *minor, int device), (major, minor, device))
{
    const khip_device *d = khip_device_of(device);
    if (!major || !minor) return E_InvalidValue;
    if (!d) return E_InvalidDevice;
    *major = d->chip->major;
    *minor = d->chip->minor;
    return 0;
}

void khip_device_uuid(char uuid[16], int device)
{
    char text[64];
    snprintf(text, sizeof text, "kilnsim-%03d%05d", device, khip_device_of(device)->chip->number);
    memcpy(uuid, text, 16);
}

HIP(hipDeviceGetUuid, (char uuid[16], int device), (uuid, device))
{
    if (!uuid) return E_InvalidValue;
    if (!khip_device_of(device)) return E_InvalidDevice;
    khip_device_uuid(uuid, device);
    return 0;
}

enum { PCI_BUS = 0x80 }; /* of ordinal 0 */
HIP(hipDeviceGetPCIBusId, (char *id, int size, int device), (id, size, device))
{
    if (!id || size <= 0) return E_InvalidValue;
    if (!khip_device_of(device)) return E_InvalidDevice;
    snprintf(id, (size_t)size, "0000:%02x:00.0", (unsigned)(PCI_BUS + device));
    return 0;
}

HIP(hipDeviceGetByPCIBusId, (int *device, const char *id), (device, id))
{
    unsigned domain, bus, slot, function;
    if (!device || !id) return E_InvalidValue;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) return E_InvalidValue;
    if (domain || slot || function || bus < PCI_BUS || !khip_device_of((int)(bus - PCI_BUS)))
        return E_InvalidDevice;
    *device = (int)(bus - PCI_BUS);
    return 0;
}

/* ---- limits, caches, peers: what has no meaning here is taken and changes nothing ---- */

enum { LIMIT_STACK, LIMIT_PRINTF, LIMIT_HEAP };
HIP(hipDeviceGetLimit, (size_t * value, int limit), (value, limit))
{
    if (!value) return E_InvalidValue;
    if (limit < LIMIT_STACK || limit > LIMIT_HEAP) return E_UnsupportedLimit;
    *value = limit == LIMIT_STACK ? 1024 : limit == LIMIT_HEAP ? ks_heap_limit(0) : 0;
    return 0;
}

HIP(hipDeviceSetLimit, (int limit, size_t value), (limit, value))
{
    if (limit != LIMIT_STACK && limit != LIMIT_HEAP) return E_UnsupportedLimit;
    if (limit == LIMIT_STACK) return 0;
    if (value >= khip_total_memory(khip_device_of(current))) return E_InvalidValue;
    ks_heap_limit(value);
    return 0;
}

static int get_zero(int *out)
{
    if (!out) return E_InvalidValue;
    *out = 0;
    return 0;
}

static int in_range(int value, int most)
{
    return value < 0 || value > most ? E_InvalidValue : 0;
}

enum { CACHE_CONFIGS = 3, BANK_CONFIGS = 2 };
HIP(hipDeviceGetCacheConfig, (int *config), (config))
{
    return get_zero(config);
}
HIP_TOO(hipCtxGetCacheConfig, hipDeviceGetCacheConfig, (int *config))
HIP(hipDeviceSetCacheConfig, (int config), (config))
{
    return in_range(config, CACHE_CONFIGS);
}
HIP_TOO(hipCtxSetCacheConfig, hipDeviceSetCacheConfig, (int config))
HIP(hipDeviceGetSharedMemConfig, (int *config), (config))
{
    return get_zero(config);
}
HIP_TOO(hipCtxGetSharedMemConfig, hipDeviceGetSharedMemConfig, (int *config))
HIP(hipDeviceSetSharedMemConfig, (int config), (config))
{
    return in_range(config, BANK_CONFIGS);
}
HIP_TOO(hipCtxSetSharedMemConfig, hipDeviceSetSharedMemConfig, (int config))

HIP(hipDeviceGetStreamPriorityRange, (int *least, int *greatest), (least, greatest))
{
    if (least) *least = 1;
    if (greatest) *greatest = -1;
    return 0;
}

/* Device memory is host memory: every device reaches all of it. */
HIP(hipDeviceCanAccessPeer, (int *can, int device, int peer), (can, device, peer))
{
    if (!can) return E_InvalidValue;
    if (!khip_device_of(device) || !khip_device_of(peer)) return E_InvalidDevice;
    *can = device != peer;
    return 0;
}

/* From, to; the process's, under khip_lock. */
static bool peer_enabled[KHIP_DEVICES][KHIP_DEVICES];
static int set_peer(int peer, bool on)
{
    if (!khip_device_of(peer) || peer == current) return E_InvalidDevice;
    khip_lock();
    const bool was = peer_enabled[current][peer];
    peer_enabled[current][peer] = on;
    khip_unlock();
    if (was != on) return 0;
    return on ? E_PeerAccessAlreadyEnabled : E_PeerAccessNotEnabled;
}

int khip_enable_peer(int peer, unsigned flags)
{
    return flags ? E_InvalidValue : set_peer(peer, true);
}

int khip_disable_peer(int peer)
{
    return set_peer(peer, false);
}

HIP(hipDeviceEnablePeerAccess, (int peer, unsigned flags), (peer, flags))
{
    return khip_enable_peer(peer, flags);
}

HIP(hipDeviceDisablePeerAccess, (int peer), (peer))
{
    return khip_disable_peer(peer);
}

/* hipDeviceP2PAttr: rank, access, atomics, arrays.  ORDER P2P */
HIP(hipDeviceGetP2PAttribute, (int *value, int attribute, int from, int to),
    (value, attribute, from, to))
{
    static const int row[] = {0, 1, 1, 0};
    enum { ROWS = sizeof row / sizeof *row };
    if (!value || attribute < 0 || attribute >= ROWS) return E_InvalidValue;
    if (!khip_device_of(from) || !khip_device_of(to) || from == to) return E_InvalidDevice;
    *value = row[attribute];
    return 0;
}

HIP(hipExtGetLinkTypeAndHopCount, (int from, int to, uint32_t *type, uint32_t *hops),
    (from, to, type, hops))
{
    enum { XGMI = 4 }; /* hsa_amd_link_info_type_t */
    if (!type || !hops || from == to) return E_InvalidValue;
    if (!khip_device_of(from) || !khip_device_of(to)) return E_InvalidDevice;
    *type = XGMI;
    *hops = 1;
    return 0;
}

/* There is no profiler to start. */
HIP(hipProfilerStart, (void), ())
{
    return E_NotSupported;
}

HIP(hipProfilerStop, (void), ())
{
    return E_NotSupported;
}
