package profile

import (
	"fmt"
	"math"
	"strconv"
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

// sevenths returns the profiles, called names, of a GPU whose SMs MIG divides into 7 parts and
// whose memory into 8; 7g is the whole GPU. Source: NVIDIA Multi-Instance GPU User Guide,
// "Supported MIG Profiles". Profiles with media engines ("+me") are no larger.
func sevenths(names string) []Slice {
	shape := [][2]float64{{1. / 7, 1. / 8}, {1. / 7, 2. / 8}, {2. / 7, 2. / 8}, {3. / 7, 4. / 8}, {4. / 7, 4. / 8}}
	var out []Slice
	for i, name := range strings.Fields(names) {
		out = append(out, Slice{name, shape[i][0], shape[i][1]})
	}
	return out
}

// GPUModels are the GPUs to which a job may move, in ascending order. Bandwidth and peak are those of
// the table of accelerators, of the SXM board where the name does not say another.
var GPUModels = []GPUModel{
	sheetOf("T4", GPUModel{Name: "T4", GiB: 15, mark: "T4"}),
	sheetOf("L4", GPUModel{Name: "L4", GiB: 22.5, mark: "L4"}),
	sheetOf("A10", GPUModel{Name: "A10", GiB: 22.5, mark: "A10"}),
	sheetOf("A30", GPUModel{Name: "A30", GiB: 24, Slices: []Slice{{"1g.6gb", 1. / 4, 1. / 4}, {"2g.12gb", 2. / 4, 2. / 4}}, mark: "A30"}),
	sheetOf("A40", GPUModel{Name: "A40", GiB: 45, mark: "A40"}),
	sheetOf("L40S", GPUModel{Name: "L40S", GiB: 45, mark: "L40S"}),
	sheetOf("A100", GPUModel{Name: "A100 40GB", GiB: 40, Slices: sevenths("1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb"), mark: "A100"}),
	sheetOf("A100-80GB", GPUModel{Name: "A100 80GB", GiB: 80, Slices: sevenths("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb"), mark: "A100"}),
	sheetOf("H100-PCIe", GPUModel{Name: "H100 80GB PCIe", GiB: 79.6, Slices: sevenths("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb"), mark: "H100 PCIe"}),
	sheetOf("H100", GPUModel{Name: "H100 80GB", GiB: 79.6, Slices: sevenths("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb"), mark: "H100"}),
	sheetOf("H100-NVL", GPUModel{Name: "H100 94GB", GiB: 93.6, Slices: sevenths("1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb"), mark: "H100 NVL"}),
	sheetOf("H200", GPUModel{Name: "H200", GiB: 140.4, Slices: sevenths("1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb"), mark: "H200"}),
	sheetOf("B200", GPUModel{Name: "B200", GiB: 179, Slices: sevenths("1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb"), mark: "B200"}),
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

// Slices returns the share of a GPU's SMs that a MIG instance has, by its profile, and 1 for a
// device that is not an instance. "1c.3g.40gb" is one of three parts of an instance. All models
// except the A30 have seven parts.
func (d *Device) Slices() float64 {
	if !d.MIG() {
		return 1
	}
	parts := 7.0
	if strings.Contains(d.Profile, "1g.6gb") || strings.Contains(d.Profile, "2g.12gb") || strings.Contains(d.Profile, "4g.24gb") {
		parts = 4
	}
	profile := d.Profile
	if number, _, ok := strings.Cut(profile, "c."); ok {
		if n, err := strconv.Atoi(number); err == nil {
			return float64(n) / parts
		}
	}
	number, _, _ := strings.Cut(profile, "g.")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return 1 / parts
	}
	return float64(n) / parts
}
