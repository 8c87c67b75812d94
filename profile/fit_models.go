package profile

import (
	"fmt"
	"math"
	"strings"

	"capcli/profile/accelerator"
)

// GPUModel is the data sheet of a GPU.
type GPUModel struct {
	Name   string
	GiB    float64 // device memory, as the driver reports it
	GBPerS float64 // bandwidth of device memory
	TFLOPS float64 // dense, FP16 on tensor cores
	Slices []Slice // MIG profiles, the smallest first; nil without MIG
	mark   string  // words that identify the model in the driver's name
}

// Slice is a MIG profile.
type Slice struct {
	Name            string
	Compute, Memory float64 // share of the GPU's SMs; share of its memory and bandwidth
}

// Share returns the share of a GPU that a slice takes: of its SMs or of its memory, whichever is
// more.
func (s *Slice) Share() float64 { return math.Max(s.Compute, s.Memory) }

// divided returns m with the MIG profiles called names. Profiles with media engines ("+me") are no
// larger.
func (m GPUModel) divided(names string) GPUModel {
	for _, name := range strings.Fields(names) {
		s, ok := accelerator.SliceOf(m.Name, name)
		if !ok {
			panic(fmt.Sprintf("%s has no MIG profile %q", m.Name, name))
		}
		m.Slices = append(m.Slices, Slice{name, float64(s.Compute) / wholeGPU, float64(s.Memory) / wholeGPU})
	}
	return m
}

// GPUModels are the GPUs to which a job may move, in ascending order. Bandwidth and peak are those of
// the table of accelerators, of the SXM board where the name does not say another.
var GPUModels = []GPUModel{
	sheetOf("T4", GPUModel{Name: "T4", GiB: 15, mark: "T4"}),
	sheetOf("L4", GPUModel{Name: "L4", GiB: 22.5, mark: "L4"}),
	sheetOf("A10", GPUModel{Name: "A10", GiB: 22.5, mark: "A10"}),
	sheetOf("A30", GPUModel{Name: "A30", GiB: 24, mark: "A30"}).divided("1g.6gb 2g.12gb"),
	sheetOf("A40", GPUModel{Name: "A40", GiB: 45, mark: "A40"}),
	sheetOf("L40S", GPUModel{Name: "L40S", GiB: 45, mark: "L40S"}),
	sheetOf("A100", GPUModel{Name: "A100 40GB", GiB: 40, mark: "A100"}).divided("1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb"),
	sheetOf("A100-80GB", GPUModel{Name: "A100 80GB", GiB: 80, mark: "A100"}).divided("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb"),
	sheetOf("H100-PCIe", GPUModel{Name: "H100 80GB PCIe", GiB: 79.6, mark: "H100 PCIe"}).divided("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb"),
	sheetOf("H100", GPUModel{Name: "H100 80GB", GiB: 79.6, mark: "H100"}).divided("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb"),
	sheetOf("H100-NVL", GPUModel{Name: "H100 94GB", GiB: 93.6, mark: "H100 NVL"}).divided("1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb"),
	sheetOf("H200", GPUModel{Name: "H200", GiB: 140.4, mark: "H200"}).divided("1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb"),
	sheetOf("B200", GPUModel{Name: "B200", GiB: 179, mark: "B200"}).divided("1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb"),
}

// sheetOf returns m with bandwidth and peak of the accelerator called name.
func sheetOf(name string, m GPUModel) GPUModel {
	sheet, ok := accelerator.Find(name)
	if !ok {
		panic(fmt.Sprintf("no accelerator %q", name))
	}
	m.GBPerS, m.TFLOPS = sheet.MemGBps, sheet.Peak.FP16
	return m
}

// nearMemory is the largest relative difference between the memory that the driver reports and
// the memory in GPUModels.
const nearMemory = 0.12

// modelOf returns the index in GPUModels of a GPU with the driver's name and the bytes of memory,
// or -1. The longest matching mark wins, because H100 is also part of H100 PCIe.
func modelOf(name string, bytes float64) int {
	words := " " + strings.NewReplacer("-", " ", "_", " ").Replace(name) + " "
	best := -1
	for i := range GPUModels {
		m := &GPUModels[i]
		if !strings.Contains(words, " "+m.mark+" ") || math.Abs(bytes/(1<<30)-m.GiB) > nearMemory*m.GiB {
			continue
		}
		if best < 0 || len(m.mark) > len(GPUModels[best].mark) {
			best = i
		}
	}
	return best
}
