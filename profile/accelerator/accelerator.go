// Package accelerator is the one table of GPUs and other accelerators: what their data sheets say
// of memory, speed, links and power. A scenario may use any name of a model; this table only says
// what is known of some.
package accelerator

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Model is the data sheet of one accelerator. A zero figure is not published, or is not known here.
type Model struct {
	Name    string   `json:"name"`              // as price lists and scenarios write it: H100, A100-80GB, TPU-v5e
	Vendor  string   `json:"vendor"`            // who makes it
	Aliases []string `json:"aliases,omitempty"` // other names, beside those that Find understands by itself
	// MemGB is its memory as the vendor names it, 80 say. Drivers report a little less, because they keep
	// some of it.
	MemGB      int64   `json:"memory_gb"`
	MemGBps    float64 `json:"memory_gb_per_s"`              // bandwidth of its memory, in 10^9 bytes a second
	Capability int     `json:"compute_capability,omitempty"` // CUDA compute capability in tenths: 80 is 8.0; 0 where there is none
	Link       string  `json:"interconnect"`                 // nvlink, pcie, infinity_fabric, ici, neuronlink or roce
	LinkGBps   float64 `json:"interconnect_gb_per_s"`        // of that link, of one accelerator, both directions together
	Watts      int     `json:"watts,omitempty"`              // thermal design power of the board
	Peak       Peak    `json:"peak_tflops"`
	SliceSizes []int   `json:"slice_sizes,omitempty"` // numbers that are rented together, as a slice of a TPU pod; nil is any
	PerMachine int     `json:"per_machine,omitempty"` // of the usual machine
	Source     string  `json:"source"`
}

// Peak is the arithmetic peak by number format, dense, in 10^12 operations a second. Matrix units are
// counted where the model has them for the format. A zero is a format without units of its own.
type Peak struct {
	FP32 float64 `json:"fp32,omitempty"` // plain FP32, without TF32
	TF32 float64 `json:"tf32,omitempty"`
	FP16 float64 `json:"fp16,omitempty"`
	BF16 float64 `json:"bf16,omitempty"`
	FP8  float64 `json:"fp8,omitempty"`
	INT8 float64 `json:"int8,omitempty"`
	FP4  float64 `json:"fp4,omitempty"`
}

// Formats are the number formats that Peak knows, from wide to narrow.
var Formats = []string{"fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"}

// TFLOPS returns the dense peak of m in a number format of Formats, in 10^12 operations a second. It is
// false where the model has no units of that format, or the format is not in Formats.
func (m *Model) TFLOPS(format string) (float64, bool) {
	p := &m.Peak
	v := map[string]float64{"fp32": p.FP32, "tf32": p.TF32, "fp16": p.FP16, "bf16": p.BF16, "fp8": p.FP8, "int8": p.INT8, "fp4": p.FP4}[format]
	return v, v > 0
}

// MemMiB returns the memory in MiB, with the vendor's GB taken as GiB: a job that wants "at least 80 GB"
// fits a model that is sold as one of 80 GB.
func (m *Model) MemMiB() int64 { return m.MemGB << 10 }

// Names returns the names of the models, in order of vendor and age.
func Names() []string {
	out := make([]string, len(models()))
	for i := range models() {
		out[i] = models()[i].Name
	}
	return out
}

// Find returns the model called name, in any usual spelling: H100, h100-sxm5-80gb, NVIDIA H100 80GB HBM3,
// tpu-v5-lite-podslice. A name with a memory size that no model has is not found.
func Find(name string) (*Model, bool) {
	table := keys()
	for _, k := range [...]string{key(name, false), key(name, true)} {
		if i, ok := table[k]; ok && k != "" {
			m := models()[i]
			return &m, true
		}
	}
	return nil, false
}

// keys maps each key of a model to its index in models. Nothing changes it once it is made.
var keys = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	for i := range models() {
		for _, k := range modelKeys(&models()[i]) {
			out[k] = i
		}
	}
	return out
})

// modelKeys returns the keys by which Find knows m: its name, its aliases, and each with its memory.
func modelKeys(m *Model) []string {
	var out []string
	for _, n := range append([]string{m.Name}, m.Aliases...) {
		out = append(out, key(n, false), key(n+"-"+strconv.FormatInt(m.MemGB, 10), false))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	nameWord = regexp.MustCompile(`[a-z0-9]+`)
	// filler words distinguish no model from another.
	filler = regexp.MustCompile(`^(nvidia|tesla|geforce|quadro|amd|instinct|intel|habana|google|aws|cloud|sxm\d?|hbm\d?e?|oam|mega|podslice|slice|device)$`)
	memory = regexp.MustCompile(`^(\d+)gi?b?$`)
	form   = regexp.MustCompile(`^(pcie|nvl)$`)
)

// key returns the words of name that distinguish a model, without the unit of the memory. With
// dropForm the board's form is left out too, for models whose forms are one row.
func key(name string, dropForm bool) string {
	var out strings.Builder
	for _, word := range nameWord.FindAllString(strings.ToLower(name), -1) {
		if filler.MatchString(word) || dropForm && form.MatchString(word) {
			continue
		}
		if size := memory.FindStringSubmatch(word); size != nil {
			word = size[1]
		}
		out.WriteString(word)
	}
	return out.String()
}
