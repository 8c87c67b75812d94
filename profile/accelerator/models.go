package accelerator

// models are the data sheets, in order of vendor and age. Peaks are dense: NVIDIA prints those of its newer
// models with sparsity, which doubles them. Where boards differ, the row is that of the SXM or OAM board.
var models = []Model{
	{
		Name: "K80", Vendor: "NVIDIA", MemGB: 12, MemGBps: 240, Capability: 37, Link: "pcie", Watts: 150,
		Peak:   Peak{FP32: 4.37},
		Source: "NVIDIA Tesla K80 data sheet, one of the two GPUs of the board",
	},
	{
		Name: "P4", Vendor: "NVIDIA", MemGB: 8, MemGBps: 192, Capability: 61, Link: "pcie", Watts: 75,
		Peak:   Peak{FP32: 5.5, INT8: 22},
		Source: "NVIDIA Tesla P4 data sheet",
	},
	{
		Name: "P40", Vendor: "NVIDIA", MemGB: 24, MemGBps: 346, Capability: 61, Link: "pcie", Watts: 250,
		Peak:   Peak{FP32: 11.76, INT8: 47},
		Source: "NVIDIA Tesla P40 data sheet",
	},
	{
		Name: "P100", Vendor: "NVIDIA", MemGB: 16, MemGBps: 732, Capability: 60, Link: "nvlink", LinkGBps: 160, Watts: 300,
		Peak:   Peak{FP32: 10.6, FP16: 21.2},
		Source: "NVIDIA Tesla P100 SXM2 data sheet",
	},
	{
		Name: "V100", Vendor: "NVIDIA", MemGB: 16, MemGBps: 900, Capability: 70, Link: "nvlink", LinkGBps: 300, Watts: 300,
		Peak: Peak{FP32: 15.7, FP16: 125}, PerMachine: 8,
		Source: "NVIDIA V100 SXM2 data sheet",
	},
	{
		Name: "V100-32GB", Vendor: "NVIDIA", MemGB: 32, MemGBps: 900, Capability: 70, Link: "nvlink", LinkGBps: 300, Watts: 300,
		Peak: Peak{FP32: 15.7, FP16: 125}, PerMachine: 8,
		Source: "NVIDIA V100 SXM2 32 GB data sheet",
	},
	{
		Name: "T4", Vendor: "NVIDIA", MemGB: 16, MemGBps: 320, Capability: 75, Link: "pcie", Watts: 70,
		Peak:   Peak{FP32: 8.1, FP16: 65, INT8: 130},
		Source: "NVIDIA T4 data sheet",
	},
	{
		Name: "RTX-2080-Ti", Vendor: "NVIDIA", Aliases: []string{"2080Ti"}, MemGB: 11, MemGBps: 616, Capability: 75, Link: "pcie", Watts: 250,
		Peak:   Peak{FP32: 13.4, FP16: 53.8, INT8: 215.2},
		Source: "NVIDIA Turing architecture white paper",
	},
	{
		Name: "RTX-6000", Vendor: "NVIDIA", MemGB: 24, MemGBps: 672, Capability: 75, Link: "pcie", Watts: 260,
		Peak:   Peak{FP32: 16.3, FP16: 130.5, INT8: 261},
		Source: "NVIDIA Turing architecture white paper, Quadro RTX 6000",
	},
	{
		Name: "A2", Vendor: "NVIDIA", MemGB: 16, MemGBps: 200, Capability: 86, Link: "pcie", Watts: 60,
		Peak:   Peak{FP32: 4.5, TF32: 9, FP16: 18, BF16: 18, INT8: 36},
		Source: "NVIDIA A2 data sheet",
	},
	{
		Name: "A10", Vendor: "NVIDIA", MemGB: 24, MemGBps: 600, Capability: 86, Link: "pcie", Watts: 150,
		Peak:   Peak{FP32: 31.2, TF32: 62.5, FP16: 125, BF16: 125, INT8: 250},
		Source: "NVIDIA A10 data sheet",
	},
	{
		Name: "A10G", Vendor: "NVIDIA", MemGB: 24, MemGBps: 600, Capability: 86, Link: "pcie", Watts: 300,
		Peak:   Peak{FP32: 35, TF32: 35, FP16: 70, BF16: 70, INT8: 140},
		Source: "NVIDIA A10G data sheet for AWS",
	},
	{
		Name: "A30", Vendor: "NVIDIA", MemGB: 24, MemGBps: 933, Capability: 80, Link: "nvlink", LinkGBps: 200, Watts: 165,
		Peak:   Peak{FP32: 10.3, TF32: 82, FP16: 165, BF16: 165, INT8: 330},
		Source: "NVIDIA A30 data sheet",
	},
	{
		Name: "A40", Vendor: "NVIDIA", MemGB: 48, MemGBps: 696, Capability: 86, Link: "pcie", Watts: 300,
		Peak:   Peak{FP32: 37.4, TF32: 74.8, FP16: 149.7, BF16: 149.7, INT8: 299.3},
		Source: "NVIDIA A40 data sheet",
	},
	{
		Name: "RTX-3090", Vendor: "NVIDIA", Aliases: []string{"3090"}, MemGB: 24, MemGBps: 936, Capability: 86, Link: "pcie", Watts: 350,
		Peak:   Peak{FP32: 35.6, TF32: 35.6, FP16: 71.2, BF16: 71.2, INT8: 284.7},
		Source: "NVIDIA Ampere GA102 white paper",
	},
	{
		Name: "A100", Vendor: "NVIDIA", MemGB: 40, MemGBps: 1555, Capability: 80, Link: "nvlink", LinkGBps: 600, Watts: 400,
		Peak: Peak{FP32: 19.5, TF32: 156, FP16: 312, BF16: 312, INT8: 624}, PerMachine: 8,
		Source: "NVIDIA A100 data sheet, SXM",
	},
	{
		Name: "A100-80GB", Vendor: "NVIDIA", MemGB: 80, MemGBps: 2039, Capability: 80, Link: "nvlink", LinkGBps: 600, Watts: 400,
		Peak: Peak{FP32: 19.5, TF32: 156, FP16: 312, BF16: 312, INT8: 624}, PerMachine: 8,
		Source: "NVIDIA A100 data sheet, SXM",
	},
	{
		Name: "A800", Vendor: "NVIDIA", MemGB: 80, MemGBps: 2039, Capability: 80, Link: "nvlink", LinkGBps: 400, Watts: 400,
		Peak: Peak{FP32: 19.5, TF32: 156, FP16: 312, BF16: 312, INT8: 624}, PerMachine: 8,
		Source: "NVIDIA A800 data sheet, SXM",
	},
	{
		Name: "L4", Vendor: "NVIDIA", MemGB: 24, MemGBps: 300, Capability: 89, Link: "pcie", Watts: 72,
		Peak:   Peak{FP32: 30.3, TF32: 60, FP16: 121, BF16: 121, FP8: 242.5, INT8: 242.5},
		Source: "NVIDIA L4 data sheet, half of the sparse figures",
	},
	{
		Name: "L40", Vendor: "NVIDIA", MemGB: 48, MemGBps: 864, Capability: 89, Link: "pcie", Watts: 300,
		Peak:   Peak{FP32: 90.5, TF32: 90.5, FP16: 181, BF16: 181, FP8: 362, INT8: 362},
		Source: "NVIDIA L40 data sheet",
	},
	{
		Name: "L40S", Vendor: "NVIDIA", MemGB: 48, MemGBps: 864, Capability: 89, Link: "pcie", Watts: 350,
		Peak: Peak{FP32: 91.6, TF32: 183, FP16: 362, BF16: 362, FP8: 733, INT8: 733}, PerMachine: 8,
		Source: "NVIDIA L40S data sheet",
	},
	{
		Name: "RTX-4090", Vendor: "NVIDIA", Aliases: []string{"4090"}, MemGB: 24, MemGBps: 1008, Capability: 89, Link: "pcie", Watts: 450,
		Peak:   Peak{FP32: 82.6, TF32: 82.6, FP16: 165.2, BF16: 165.2, FP8: 330.3, INT8: 660.6},
		Source: "NVIDIA Ada GPU architecture white paper, FP32 accumulate",
	},
	{
		Name: "H100-PCIe", Vendor: "NVIDIA", MemGB: 80, MemGBps: 2039, Capability: 90, Link: "pcie", LinkGBps: 128, Watts: 350,
		Peak:   Peak{FP32: 51, TF32: 378, FP16: 756, BF16: 756, FP8: 1513, INT8: 1513},
		Source: "NVIDIA H100 PCIe data sheet, half of the sparse figures",
	},
	{
		Name: "H100", Vendor: "NVIDIA", MemGB: 80, MemGBps: 3350, Capability: 90, Link: "nvlink", LinkGBps: 900, Watts: 700,
		Peak: Peak{FP32: 67, TF32: 494.5, FP16: 989, BF16: 989, FP8: 1979, INT8: 1979}, PerMachine: 8,
		Source: "NVIDIA H100 SXM data sheet, half of the sparse figures",
	},
	{
		Name: "H100-NVL", Vendor: "NVIDIA", MemGB: 94, MemGBps: 3938, Capability: 90, Link: "nvlink", LinkGBps: 600, Watts: 400,
		Peak:   Peak{FP32: 60, TF32: 417.5, FP16: 835, BF16: 835, FP8: 1671, INT8: 1671},
		Source: "NVIDIA H100 NVL data sheet, half of the sparse figures",
	},
	{
		Name: "H800", Vendor: "NVIDIA", MemGB: 80, MemGBps: 3350, Capability: 90, Link: "nvlink", LinkGBps: 400, Watts: 700,
		Peak: Peak{FP32: 67, TF32: 494.5, FP16: 989, BF16: 989, FP8: 1979, INT8: 1979}, PerMachine: 8,
		Source: "NVIDIA H800 SXM data sheet; DeepSeek-V3 report for the link",
	},
	{
		Name: "H20", Vendor: "NVIDIA", MemGB: 96, MemGBps: 4000, Capability: 90, Link: "nvlink", LinkGBps: 900, Watts: 400,
		Peak: Peak{FP32: 44, TF32: 74, FP16: 148, BF16: 148, FP8: 296, INT8: 296}, PerMachine: 8,
		Source: "NVIDIA H20 product brief",
	},
	{
		Name: "H200", Vendor: "NVIDIA", MemGB: 141, MemGBps: 4800, Capability: 90, Link: "nvlink", LinkGBps: 900, Watts: 700,
		Peak: Peak{FP32: 67, TF32: 494.5, FP16: 989, BF16: 989, FP8: 1979, INT8: 1979}, PerMachine: 8,
		Source: "NVIDIA H200 SXM data sheet, half of the sparse figures",
	},
	{
		Name: "GH200", Vendor: "NVIDIA", MemGB: 96, MemGBps: 4000, Capability: 90, Link: "nvlink", LinkGBps: 900, Watts: 1000,
		Peak:   Peak{FP32: 67, TF32: 494.5, FP16: 990, BF16: 990, FP8: 1979, INT8: 1979},
		Source: "NVIDIA GH200 data sheet, half of the sparse figures; the power is of GPU, CPU and memory",
	},
	{
		Name: "B200", Vendor: "NVIDIA", MemGB: 180, MemGBps: 7700, Capability: 100, Link: "nvlink", LinkGBps: 1800, Watts: 1000,
		Peak: Peak{FP32: 75, TF32: 1100, FP16: 2250, BF16: 2250, FP8: 4500, INT8: 4500, FP4: 9000}, PerMachine: 8,
		Source: "NVIDIA DGX B200 data sheet, an eighth of it, half of the sparse figures",
	},
	{
		Name: "GB200", Vendor: "NVIDIA", MemGB: 186, MemGBps: 8000, Capability: 100, Link: "nvlink", LinkGBps: 1800, Watts: 1200,
		Peak: Peak{FP32: 80, TF32: 1250, FP16: 2500, BF16: 2500, FP8: 5000, INT8: 5000, FP4: 10000}, PerMachine: 4,
		Source: "NVIDIA GB200 NVL72 data sheet, one of 72 GPUs, half of the sparse figures",
	},
	{
		Name: "MI100", Vendor: "AMD", MemGB: 32, MemGBps: 1228.8, Link: "infinity_fabric", LinkGBps: 276, Watts: 300,
		Peak:   Peak{FP32: 46.1, FP16: 184.6, BF16: 92.3, INT8: 184.6},
		Source: "AMD Instinct MI100 data sheet",
	},
	{
		Name: "MI210", Vendor: "AMD", MemGB: 64, MemGBps: 1638.4, Link: "infinity_fabric", LinkGBps: 300, Watts: 300,
		Peak:   Peak{FP32: 45.3, FP16: 181, BF16: 181, INT8: 181},
		Source: "AMD Instinct MI210 data sheet",
	},
	{
		Name: "MI250", Vendor: "AMD", MemGB: 128, MemGBps: 3276.8, Link: "infinity_fabric", LinkGBps: 600, Watts: 560,
		Peak:   Peak{FP32: 90.5, FP16: 362.1, BF16: 362.1, INT8: 362.1},
		Source: "AMD Instinct MI250 data sheet",
	},
	{
		Name: "MI250X", Vendor: "AMD", MemGB: 128, MemGBps: 3276.8, Link: "infinity_fabric", LinkGBps: 800, Watts: 560,
		Peak:   Peak{FP32: 95.7, FP16: 383, BF16: 383, INT8: 383},
		Source: "AMD Instinct MI250X data sheet",
	},
	{
		Name: "MI300X", Vendor: "AMD", MemGB: 192, MemGBps: 5300, Link: "infinity_fabric", LinkGBps: 896, Watts: 750,
		Peak: Peak{FP32: 163.4, TF32: 653.7, FP16: 1307.4, BF16: 1307.4, FP8: 2614.9, INT8: 2614.9}, PerMachine: 8,
		Source: "AMD Instinct MI300X data sheet",
	},
	{
		Name: "MI325X", Vendor: "AMD", MemGB: 256, MemGBps: 6000, Link: "infinity_fabric", LinkGBps: 896, Watts: 1000,
		Peak: Peak{FP32: 163.4, TF32: 653.7, FP16: 1307.4, BF16: 1307.4, FP8: 2614.9, INT8: 2614.9}, PerMachine: 8,
		Source: "AMD Instinct MI325X data sheet",
	},
	{
		Name: "MI355X", Vendor: "AMD", MemGB: 288, MemGBps: 8000, Link: "infinity_fabric", LinkGBps: 1075, Watts: 1400,
		Peak: Peak{FP32: 157.3, FP16: 2516.6, BF16: 2516.6, FP8: 5033.2, INT8: 5033.2, FP4: 10066.3}, PerMachine: 8,
		Source: "AMD Instinct MI355X data sheet",
	},
	{
		Name: "Gaudi-2", Vendor: "Intel", Aliases: []string{"HL-225"}, MemGB: 96, MemGBps: 2450, Link: "roce", LinkGBps: 600, Watts: 600,
		Peak: Peak{BF16: 432, FP8: 865}, PerMachine: 8,
		Source: "Intel Gaudi 2 and Gaudi 3 white papers",
	},
	{
		Name: "Gaudi-3", Vendor: "Intel", Aliases: []string{"HL-325"}, MemGB: 128, MemGBps: 3700, Link: "roce", LinkGBps: 1200, Watts: 900,
		Peak: Peak{BF16: 1835, FP8: 1835}, PerMachine: 8,
		Source: "Intel Gaudi 3 AI Accelerator white paper, OAM",
	},
	{
		Name: "TPU-v2", Vendor: "Google", MemGB: 16, MemGBps: 700, Link: "ici",
		Peak: Peak{BF16: 46}, SliceSizes: []int{4, 16, 64, 128, 256}, PerMachine: 4,
		Source: "cloud.google.com/tpu/docs/v2; Jouppi et al. 2020, a domain-specific supercomputer for training",
	},
	{
		Name: "TPU-v3", Vendor: "Google", MemGB: 32, MemGBps: 900, Link: "ici",
		Peak: Peak{BF16: 123}, SliceSizes: []int{4, 16, 32, 64, 128, 256, 512, 1024}, PerMachine: 4,
		Source: "cloud.google.com/tpu/docs/v3",
	},
	{
		Name: "TPU-v4", Vendor: "Google", MemGB: 32, MemGBps: 1228, Link: "ici", LinkGBps: 600, Watts: 192,
		Peak: Peak{BF16: 275, INT8: 275}, SliceSizes: []int{4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}, PerMachine: 4,
		Source: "cloud.google.com/tpu/docs/v4; the power is the highest measured",
	},
	{
		Name: "TPU-v5e", Vendor: "Google", Aliases: []string{"TPU-v5-lite", "v5litepod", "v5e"}, MemGB: 16, MemGBps: 819, Link: "ici", LinkGBps: 400,
		Peak: Peak{BF16: 197, INT8: 393}, SliceSizes: []int{1, 4, 8, 16, 32, 64, 128, 256}, PerMachine: 8,
		Source: "cloud.google.com/tpu/docs/v5e",
	},
	{
		Name: "TPU-v5p", Vendor: "Google", Aliases: []string{"v5p", "TPU-v5"}, MemGB: 95, MemGBps: 2765, Link: "ici", LinkGBps: 1200,
		Peak: Peak{BF16: 459, INT8: 918}, SliceSizes: []int{4, 8, 16, 32, 64, 128, 256, 512, 1024, 1536, 2048, 4096, 6144}, PerMachine: 4,
		Source: "cloud.google.com/tpu/docs/v5p",
	},
	{
		Name: "TPU-v6e", Vendor: "Google", Aliases: []string{"v6e", "Trillium"}, MemGB: 32, MemGBps: 1638, Link: "ici", LinkGBps: 800,
		Peak: Peak{BF16: 918, INT8: 1836}, SliceSizes: []int{1, 4, 8, 16, 32, 64, 128, 256}, PerMachine: 8,
		Source: "cloud.google.com/tpu/docs/v6e",
	},
	{
		Name: "Inferentia2", Vendor: "AWS", Aliases: []string{"inf2"}, MemGB: 32, MemGBps: 820, Link: "neuronlink",
		Peak: Peak{FP32: 47.5, TF32: 190, FP16: 190, BF16: 190, FP8: 190, INT8: 380}, PerMachine: 12,
		Source: "awsdocs-neuron.readthedocs-hosted.com, Inferentia2 architecture",
	},
	{
		Name: "Trainium1", Vendor: "AWS", Aliases: []string{"trn1", "Trainium"}, MemGB: 32, MemGBps: 820, Link: "neuronlink",
		Peak: Peak{FP32: 47.5, TF32: 190, FP16: 190, BF16: 190, FP8: 190, INT8: 380}, PerMachine: 16,
		Source: "awsdocs-neuron.readthedocs-hosted.com, Trainium architecture",
	},
	{
		Name: "Trainium2", Vendor: "AWS", Aliases: []string{"trn2"}, MemGB: 96, MemGBps: 2900, Link: "neuronlink", LinkGBps: 1280,
		Peak: Peak{FP32: 181, TF32: 667, FP16: 667, BF16: 667, FP8: 1299}, PerMachine: 16,
		Source: "awsdocs-neuron.readthedocs-hosted.com, Trainium2 architecture",
	},
	{
		Name: "Trainium3", Vendor: "AWS", Aliases: []string{"trn3"}, MemGB: 144, MemGBps: 4900, Link: "neuronlink", LinkGBps: 2560,
		Peak:   Peak{FP32: 183, TF32: 671, FP16: 671, BF16: 671, FP8: 2517, FP4: 2517},
		Source: "awsdocs-neuron.readthedocs-hosted.com, Trainium3 architecture",
	},
}
