set,problem,implementation,us,spread,TFLOP/s,GB/s,ratio,replays,note
,"bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256",kiln,803148.80,0.078,0.057487,0.13156,1.000,4,host/bias_relu/bf16_bf16_bf16/rcr/host_1024x256x512
,"linear_relu_abde_i8 i8,i8,i8 rcr m=512 n=5120 k=5120 align=256",kiln,291645.32,0.192,0.092042,0.10788,1.000,5,host/linear_relu_abde_i8/i8_i8_i8/rcr/host_1024x256x2048
,"gemm f32,f32,f32 rrr m=1024 n=1024 k=1024 align=256",kiln,55575.72,0.419,0.038641,0.22641,1.000,10,host/gemm/f32_f32_f32/rrr/host_1024x256x512
