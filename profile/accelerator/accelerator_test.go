package accelerator

import (
	"slices"
	"testing"
)

// TestEveryModelMakesSense holds the table to what must be so of any data sheet.
func TestEveryModelMakesSense(t *testing.T) {
	links := []string{"nvlink", "pcie", "infinity_fabric", "ici", "neuronlink", "roce"}
	for _, m := range models() {
		if m.MemGB < 1 || m.MemGBps < 1 || m.Source == "" || m.Vendor == "" || !slices.Contains(links, m.Link) {
			t.Errorf("%s: %+v lacks a figure, a source or a known link", m.Name, m)
		}
		if (m.Capability > 0) != (m.Vendor == "NVIDIA") {
			t.Errorf("%s: compute capability %d of a model of %s", m.Name, m.Capability, m.Vendor)
		}
		if m.Link == "ici" && !slices.IsSorted(m.SliceSizes) || (m.Link == "ici") != (m.SliceSizes != nil) {
			t.Errorf("%s: slice sizes %v", m.Name, m.SliceSizes)
		}
		// A narrower format is never slower, and not beyond all measure faster than a wider one.
		last := 0.0
		for _, f := range [][]string{{"fp32"}, {"tf32"}, {"bf16", "fp16"}, {"fp8"}, {"fp4"}} {
			for _, name := range f {
				v, ok := m.TFLOPS(name)
				if ok && (v < last || last > 0 && v > 17*last) {
					t.Errorf("%s: %s has %g TFLOPS after %g of a wider format", m.Name, name, v, last)
				}
				last = max(last, v)
			}
		}
		if last == 0 {
			t.Errorf("%s: no peak", m.Name)
		}
	}
}

func TestFind(t *testing.T) {
	tests := map[string]string{
		"NVIDIA H100 80GB HBM3": "H100", "h100_sxm5_80gb": "H100", "nvidia-h100-mega-80gb": "H100", "NVIDIA H100 PCIe": "H100-PCIe",
		"NVIDIA H100 NVL": "H100-NVL", "NVIDIA A100-SXM4-80GB": "A100-80GB", "A100": "A100", "A100-PCIE-40GB": "A100", "a100_80g": "A100-80GB",
		"Tesla V100-SXM2-32GB": "V100-32GB", "V100-SXM2-16GB": "V100", "Tesla T4": "T4", "NVIDIA A10G": "A10G", "A10": "A10",
		"AMD Instinct MI300X": "MI300X", "tpu-v5-lite-podslice": "TPU-v5e", "TPU v5p": "TPU-v5p", "tpu-v6e-slice": "TPU-v6e", "trn2": "Trainium2",
		"Gaudi 3": "Gaudi-3", "Intel Gaudi3": "Gaudi-3", "GeForce RTX 4090": "RTX-4090", "Quadro RTX 6000": "RTX-6000", "NVIDIA GB200": "GB200",
		"h200-141gb": "H200", "B200": "B200",
		"H100-96GB": "", "A100-64GB": "", "": "", "80gb": "", "nvidia": "", "RTX 6000 Ada": "",
	}
	for name, want := range tests {
		m, ok := Find(name)
		if got := ""; ok {
			if got = m.Name; got != want {
				t.Errorf("Find(%q) is %s, want %q", name, got, want)
			}
		} else if want != "" {
			t.Errorf("Find(%q) is nothing, want %s", name, want)
		}
	}
}

// TestEveryNameFindsItsModel also says that no two models share a name.
func TestEveryNameFindsItsModel(t *testing.T) {
	owner := map[string]string{}
	for _, m := range models() {
		for _, k := range modelKeys(&m) {
			if other := owner[k]; other != "" {
				t.Errorf("%s and %s share the key %q", other, m.Name, k)
			}
			owner[k] = m.Name
		}
		for _, name := range append([]string{m.Name, m.Vendor + " " + m.Name}, m.Aliases...) {
			if got, ok := Find(name); !ok || got.Name != m.Name {
				t.Errorf("Find(%q) is not %s", name, m.Name)
			}
		}
	}
}
