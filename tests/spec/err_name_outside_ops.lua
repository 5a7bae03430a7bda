-- expect: 2:8: error: unknown name 'family'; schedules are host, mfma, simt, simt_decode, wgmma, wgmma_decode, mma
return family { types = {} }
