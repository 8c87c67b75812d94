package nvml

import "math"

// laneMBPerS is what a lane of each generation of PCIe carries, MB/s: its transfers a second, net of its
// encoding. That is 8b/10b to generation 2 and 128b/130b to 5; from 6 on, 242 of the 256 bytes of a
// flit are payload, checksums and link information apart (PCI Express Base Specification).
var laneMBPerS = [...]float64{
	1: 2500.0 / 8 * 8 / 10, 2: 5000.0 / 8 * 8 / 10,
	3: 8000.0 / 8 * 128 / 130, 4: 16000.0 / 8 * 128 / 130, 5: 32000.0 / 8 * 128 / 130,
	6: 64000.0 / 8 * 242 / 256, 7: 128000.0 / 8 * 242 / 256,
}

// pcieMiBPerS returns what a link of PCIe carries in one direction, MiB/s, without the heads of packets;
// 0 where the generation or the width is none.
func pcieMiBPerS(generation, width int) float64 {
	if generation < 1 || generation >= len(laneMBPerS) || width < 1 || width > 32 {
		return 0
	}
	return math.Round(laneMBPerS[generation] * float64(width) * 1e6 / (1 << 20))
}

// nvlinkMBPerS is what a link of each version (NVML_NVLINK_VERSION_* of nvml.h) carries in one direction,
// MB/s, by NVIDIA's data sheets: P100 160 GB/s both ways over 4 links, V100 300 over 6, A100 600 over 12,
// H100 900 over 18, B200 1800 over 18, and Rubin 3600 over 36 of half the width.
var nvlinkMBPerS = [...]float64{1: 20_000, 2: 25_000, 3: 25_000, 4: 25_000, 5: 25_000, 6: 25_000, 7: 50_000, 8: 50_000}

// nvlinkMiBPerS returns what links of a speed in MB/s carry together, MiB/s.
func nvlinkMiBPerS(links int, speed float64) float64 {
	return math.Round(float64(links) * speed * 1e6 / (1 << 20))
}
