package accelerator

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// WholeGPU is a whole GPU in the parts in which shares are counted: every share that MIG gives, of
// compute in sevenths or quarters, of memory in eighths or quarters, and the parts of an instance
// that its compute instances have, is a whole number of them.
const WholeGPU = 168

// Slice is what a MIG instance has of its GPU, in parts of WholeGPU.
type Slice struct{ Compute, Memory int64 }

// Share returns the part of the GPU that the instance takes: of its compute or of its memory,
// whichever is more, because nobody else gets the rest.
func (s Slice) Share() int64 { return max(s.Compute, s.Memory) }

// migProfile are the parts of a profile's name: "1c.3g.40gb+me" is the first of three parts of an
// instance with 3 compute slices and 40 GB, with media engines.
var migProfile = regexp.MustCompile(`^(?:(\d+)c\.)?(\d+)g\.(\d+)gb`)

// SliceOf returns what an instance with the given profile has of a GPU with the name model, as its
// driver writes it. Where the memory of the model is not known, that of the usual geometry counts. It
// is false where profile is no MIG profile.
//
// Source: NVIDIA Multi-Instance GPU User Guide, "Supported MIG Profiles": all models have 7 compute
// and 8 memory slices but the A30 and the RTX PRO 6000, which have 4 of both.
func SliceOf(model, profile string) (Slice, bool) {
	found := migProfile.FindStringSubmatch(strings.ToLower(profile))
	if found == nil {
		return Slice{}, false
	}
	number := func(i int) int64 { n, _ := strconv.ParseInt(found[i], 10, 32); return n }
	slices, gb := number(2), number(3)
	computes, memories := migGeometry(model, found[2]+"g."+found[3]+"gb")
	if slices < 1 || slices > computes {
		return Slice{}, false
	}
	out := Slice{WholeGPU * slices / computes, WholeGPU * usualMemory(slices, memories, gb) / memories}
	if whole := memoryOf(model); whole > 0 {
		n := int64(math.Round(float64(gb*memories) / float64(whole)))
		out.Memory = WholeGPU * min(max(n, 1), memories) / memories
	}
	if found[1] != "" { // compute instances share the memory of their GPU instance
		part := min(max(number(1), 1), slices)
		out = Slice{out.Compute * part / slices, out.Share() * part / slices}
	}
	return out, true
}

// migGeometry returns the compute and the memory slices of a model.
func migGeometry(model, profile string) (computes, memories int64) {
	switch {
	case strings.Contains(model, "A30"), strings.Contains(model, "RTX PRO 6000"):
		return 4, 4
	case profile == "1g.6gb", profile == "2g.12gb", profile == "4g.24gb": // no other model has them
		return 4, 4
	}
	return 7, 8
}

// usualMemory returns the memory slices of the profile with so many compute slices and GB.
func usualMemory(slices, memories, gb int64) int64 {
	if memories == 8 {
		switch slices {
		case 1:
			if gb >= 20 && gb != 23 { // double memory: 1g.20gb, 1g.24gb, 1g.35gb, 1g.45gb; a B200's 1g.23gb is not
				return 2
			}
		case 3:
			return 4
		case 7:
			return 8
		}
	}
	return slices
}

// sizeInName is the memory in a name such as "NVIDIA A100-SXM4-40GB".
var sizeInName = regexp.MustCompile(`(?i)\b(\d+)\s?GB\b`)

// memoryOf returns the memory of a model in GB, or 0.
func memoryOf(model string) int64 {
	if m, ok := Find(model); ok {
		return m.MemGB
	}
	if strings.Contains(model, "GH200") { // the name has the memory of its CPU
		return 96
	}
	if found := sizeInName.FindStringSubmatch(model); found != nil {
		n, _ := strconv.ParseInt(found[1], 10, 32)
		return n
	}
	return 0
}
