// SPDX-License-Identifier: MIT
// Hopper's barriers in shared memory (mbarriers), and clusters of blocks.  C++, sm_90a.  Addresses of shared memory are
// 32 bits here.  Instructions: PTX ISA, sections of the same names.
#ifndef KILN_CLUSTER_H
#define KILN_CLUSTER_H
#include "kiln_chunk.h"

// The shared memory that a kernel's launch gives it.
#define KILN_DYNAMIC_SHARED(name, alignment) extern KILN_SHARED char name[] __attribute__((aligned(alignment)))

static KILN_DEVICE unsigned kiln_shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// 16 bytes there.
static KILN_DEVICE kiln_words4 kiln_shared_load4(unsigned address)
{
    kiln_words4 w;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.v[0]), "=r"(w.v[1]), "=r"(w.v[2]), "=r"(w.v[3]) : "r"(address) : "memory");
    return w;
}
static KILN_DEVICE void kiln_shared_store4(unsigned address, const kiln_words4 &w)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 ::"r"(address), "r"(w.v[0]), "r"(w.v[1]), "r"(w.v[2]), "r"(w.v[3]) : "memory");
}

/* ---- mbarriers ---- */

static KILN_DEVICE void kiln_mbarrier_init(unsigned barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes them known to the cluster and to the copy engine; a barrier of the block or cluster follows.
static KILN_DEVICE void kiln_mbarrier_fence_init(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Arrives, and has the phase wait for `bytes` more.
static KILN_DEVICE void kiln_mbarrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
static KILN_DEVICE void kiln_mbarrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// In the threads where `condition` holds: without a branch, across which ptxas would not let wgmma's operands be made
// ahead.
static KILN_DEVICE void kiln_mbarrier_arrive_if(unsigned barrier, bool condition)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %1, 0;\n@p mbarrier.arrive.shared::cta.b64 _, [%0];\n}"
                 ::"r"(barrier), "r"((unsigned)condition) : "memory");
}
// At the same place of block `rank` of the cluster.  Without release at cluster scope, which would
// be a fence of the whole GPU: only for what wgmma alone has read, and has been waited for.
static KILN_DEVICE void kiln_mbarrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier), "r"(rank) : "memory");
}
// As kiln_mbarrier_arrive_if.
static KILN_DEVICE void kiln_mbarrier_arrive_at_if(unsigned barrier, unsigned rank, bool condition)
{
    asm volatile("{\n.reg .pred p;\n.reg .b32 there;\n"
                 "setp.ne.u32 p, %2, 0;\n"
                 "@p mapa.shared::cluster.u32 there, %0, %1;\n"
                 "@p mbarrier.arrive.shared::cluster.b64 _, [there];\n}"
                 ::"r"(barrier), "r"(rank), "r"((unsigned)condition) : "memory");
}
// The same where kiln_cluster_address has said where the barrier is.
static KILN_DEVICE void kiln_mbarrier_arrive_there_if(unsigned there, bool condition)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %1, 0;\n@p mbarrier.arrive.shared::cluster.b64 _, [%0];\n}"
                 ::"r"(there), "r"((unsigned)condition) : "memory");
}
static KILN_DEVICE void kiln_mbarrier_wait(unsigned barrier, unsigned phase)
{
    asm volatile("{\n.reg .pred done;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n}" ::"r"(barrier), "r"(phase) : "memory");
}

// Whether that phase has ended; and the wait for it where it had not.
static KILN_DEVICE unsigned kiln_mbarrier_test(unsigned barrier, unsigned phase)
{
    unsigned ended;
    asm volatile("{\n.reg .pred done;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, done;\n}" : "=r"(ended) : "r"(barrier), "r"(phase) : "memory");
    return ended;
}
static KILN_DEVICE void kiln_mbarrier_wait_unless(unsigned ended, unsigned barrier, unsigned phase)
{
    asm volatile("{\n.reg .pred done;\n"
                 "setp.ne.u32 done, %0, 0;\n"
                 "@done bra over_%=;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "@!done bra again_%=;\n"
                 "over_%=:\n}" ::"r"(ended), "r"(barrier), "r"(phase) : "memory");
}

// For what another block of the cluster has sent.
static KILN_DEVICE void kiln_mbarrier_wait_cluster(unsigned barrier, unsigned phase)
{
    asm volatile("{\n.reg .pred done;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n}" ::"r"(barrier), "r"(phase) : "memory");
}

/* ---- clusters ---- */

static KILN_DEVICE unsigned kiln_cluster_rank(void)
{
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
static KILN_DEVICE unsigned kiln_cluster_blocks(void)
{
    unsigned n;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
}
static KILN_DEVICE void kiln_cluster_barrier(void)
{
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
// Without release at cluster scope, which would be a fence of the whole GPU: for sums in shared memory that a barrier
// of the block has made whole, and for staying until others have read them.
static KILN_DEVICE void kiln_cluster_meet(void)
{
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
}
// The address of another block's shared memory, and 16 bytes from there.
static KILN_DEVICE unsigned kiln_cluster_address(unsigned address, unsigned rank)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
static KILN_DEVICE kiln_words4 kiln_cluster_load4(unsigned address)
{
    kiln_words4 w;
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.v[0]), "=r"(w.v[1]), "=r"(w.v[2]), "=r"(w.v[3]) : "r"(address) : "memory");
    return w;
}

// To another block, whose `barrier` counts the bytes as arrived once they are there.
static KILN_DEVICE void kiln_cluster_send4(unsigned address, kiln_words4 w, unsigned barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];"
                 ::"r"(address), "r"(w.v[0]), "r"(w.v[1]), "r"(w.v[2]), "r"(w.v[3]), "r"(barrier) : "memory");
}
static KILN_DEVICE void kiln_cluster_send(unsigned address, float x, unsigned barrier)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 ::"r"(address), "r"(kiln_bits(x)), "r"(barrier) : "memory");
}
#endif
