package nvml

import "math"

// nvlinkMBPerS is what a link of each version (NVML_NVLINK_VERSION_* of nvml.h) carries in one direction,
// MB/s, by NVIDIA's data sheets: P100 160 GB/s both ways over 4 links, V100 300 over 6, A100 600 over 12,
// H100 900 over 18, B200 1800 over 18, and Rubin 3600 over 36 of half the width.
var nvlinkMBPerS = [...]float64{1: 20_000, 2: 25_000, 3: 25_000, 4: 25_000, 5: 25_000, 6: 25_000, 7: 50_000, 8: 50_000}

// nvlinkMiBPerS returns what links of a speed in MB/s carry together, MiB/s.
func nvlinkMiBPerS(links int, speed float64) float64 {
	return math.Round(float64(links) * speed * 1e6 / (1 << 20))
}
