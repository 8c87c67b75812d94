package profile

import "math"

// laneMBPerS is what a lane of each generation of PCIe carries, MB/s: its transfers a second, net of its
// encoding. That is 8b/10b to generation 2 and 128b/130b to 5; from 6 on, 242 of the 256 bytes of a
// flit are payload, without checksums and link information (PCI Express Base Specification).
var laneMBPerS = [...]float64{
	1: 2500.0 / 8 * 8 / 10, 2: 5000.0 / 8 * 8 / 10,
	3: 8000.0 / 8 * 128 / 130, 4: 16000.0 / 8 * 128 / 130, 5: 32000.0 / 8 * 128 / 130,
	6: 64000.0 / 8 * 242 / 256, 7: 128000.0 / 8 * 242 / 256,
}

// PCIeMiBPerS returns what a link of PCIe carries in one direction, MiB/s, with the heads of packets; 0
// where the generation or the width is none.
func PCIeMiBPerS(generation, width int) float64 {
	if generation < 1 || generation >= len(laneMBPerS) || width < 1 || width > 32 {
		return 0
	}
	return math.Round(laneMBPerS[generation] * float64(width) * 1e6 / (1 << 20))
}
