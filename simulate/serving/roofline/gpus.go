package roofline

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/accelerator"
)

// GPU is a kind of GPU.
type GPU struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"` // of memory
	Source string `json:"source,omitempty"`
}

// GPUs are the known kinds of GPUs.
var GPUs = capcli.Catalog[GPU]{Kind: "gpu_model"}

// shortGPUs are other names of kinds of GPUs.
var shortGPUs = map[string]string{
	"a100": "a100_sxm", "a100_80gb": "a100_sxm", "a100_sxm4": "a100_sxm", "a100_sxm4_80gb": "a100_sxm", "a100_80gb_sxm": "a100_sxm",
	"h100": "h100_sxm", "h100_80gb": "h100_sxm", "h100_sxm5": "h100_sxm", "h100_sxm5_80gb": "h100_sxm", "h100_80gb_hbm3": "h100_sxm", "h100_80g": "h100_sxm",
	"h200": "h200_sxm", "h200_141gb": "h200_sxm", "h200_sxm_141gb": "h200_sxm",
	"b200": "b200_sxm", "b200_180gb": "b200_sxm",
}

// FindGPU returns the kind of GPU called name, in any usual spelling: H100, h100-sxm, NVIDIA H100 80GB HBM3.
func FindGPU(name string) (GPU, error) {
	short := strings.ToLower(strings.TrimSpace(name))
	short = strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, short)
	short = strings.TrimPrefix(short, "nvidia_")
	if long := shortGPUs[short]; long != "" {
		short = long
	}
	g, err := GPUs.Get(short)
	if err != nil {
		names := GPUs.Names()
		hint := capcli.DidYouMean(short, names)
		if hint == "" {
			i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, short) && short != "" })
			if i >= 0 {
				hint = fmt.Sprintf("; did you mean %q?", names[i])
			}
		}
		return g, &capcli.UnknownError{Text: fmt.Sprintf("unknown gpu_model %s%s have %s", capcli.Quoted(name), colon(hint), strings.Join(names, ", "))}
	}
	return g, nil
}

func colon(hint string) string {
	if hint == "" {
		return ":"
	}
	return hint
}

func init() {
	for name, sheet := range map[string]string{"a100_sxm": "A100-80GB", "h100_sxm": "H100", "h200_sxm": "H200", "b200_sxm": "B200", "l40s": "L40S"} {
		m, ok := accelerator.Find(sheet)
		if !ok {
			panic(fmt.Sprintf("no accelerator %q", sheet))
		}
		GPUs.Add(name, fmt.Sprintf("%d GiB of memory", m.MemGB), GPU{name, m.MemGB << 30, m.Source})
	}
}
