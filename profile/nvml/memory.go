//go:build linux && cgo

package nvml

import (
	"encoding/binary"
	"math"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// historyFrom is the shortest sampling interval for which the mean of the driver's own samples
// (at most six a second) is used instead of its latest figure.
const historyFrom = 500 * time.Millisecond

// history puts the mean of the samples that the driver took since time seen, and advances seen.
// The first look only sets seen: all samples in the buffer are from before. The answer has the
// length of the driver's buffer; entries without a time are unused and do not count.
func (g *gpu) history(s *profile.Sample, m profile.Metric, kind uint32, seen *uint64) {
	list, ret := g.handle.GetSamples(kind, *seen)
	if g.note(code(ret)) != success {
		return
	}
	first := *seen == 0
	last, sum, n := *seen, 0.0, 0
	for i := range list {
		if list[i].Time == 0 || list[i].Time <= *seen {
			continue
		}
		last = max(last, list[i].Time)
		if v := binary.NativeEndian.Uint32(list[i].Value[:]); v <= 100 {
			sum += float64(v)
			n++
		}
	}
	*seen = last
	if n > 0 && !first {
		put(s, m, sum/float64(n))
	}
}

func (g *gpu) wholeMemory(s *profile.Sample, _ *order) { g.memory(g.handle, s) }

// memory puts used, reserved and total device memory, in bytes. Version 1 of the call includes
// reserved memory in used memory and does not give it separately.
func (g *gpu) memory(h driver.Device, s *profile.Sample) {
	v, ret := h.GetMemoryInfo2()
	c := g.note(code(ret))
	if c == success {
		used := v.Used
		if g.folded && used >= v.Reserved {
			used -= v.Reserved
		}
		g.putMemory(s, used, v.Total)
		if s.Why[profile.MemTotal] == profile.Known && v.Reserved <= v.Total {
			put(s, profile.MemReserved, float64(v.Reserved))
		} else {
			g.miss(s, profile.MemReserved, profile.OutOfRange)
		}
		return
	}
	if !g.failed() && g.lib.lib.Has(driver.SymMemory) && (c == functionMissing || c == wrongVersion || c == notSupported) {
		v, ret := h.GetMemoryInfo()
		if c = g.note(code(ret)); c == success {
			g.putMemory(s, v.Used, v.Total)
			g.miss(s, profile.MemReserved, profile.NoSymbol)
			return
		}
	}
	for _, m := range [...]profile.Metric{profile.MemUsed, profile.MemReserved, profile.MemTotal} {
		g.miss(s, m, c.reason())
	}
}

// putMemory puts used and total memory, in bytes. A total of 0 means a GPU without memory of its
// own, which shares that of the host.
func (g *gpu) putMemory(s *profile.Sample, used, total uint64) {
	switch {
	case total == 0:
		g.miss(s, profile.MemUsed, profile.Unsupported)
		g.miss(s, profile.MemTotal, profile.Unsupported)
	case total == math.MaxUint64 || used > total:
		g.miss(s, profile.MemUsed, profile.OutOfRange)
		put(s, profile.MemTotal, float64(total))
	default:
		put(s, profile.MemUsed, float64(used))
		put(s, profile.MemTotal, float64(total))
	}
}

// memoryForm returns the device memory in bytes, 0 where unknown, and folded: whether version 2
// of the call includes reserved memory in used memory, contrary to its manual. Then used and free
// alone add up to the total.
func (l *library) memoryForm(h driver.Device) (total float64, folded bool) {
	if v, ret := h.GetMemoryInfo2(); ret == driver.Success && v.Total <= 1<<50 {
		apart := math.Abs(float64(v.Used) + float64(v.Free) + float64(v.Reserved) - float64(v.Total))
		together := math.Abs(float64(v.Used) + float64(v.Free) - float64(v.Total))
		return float64(v.Total), v.Reserved > 0 && together < apart
	}
	if v, ret := h.GetMemoryInfo(); ret == driver.Success && v.Total <= 1<<50 {
		return float64(v.Total), false
	}
	return 0, false
}
