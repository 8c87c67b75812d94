//go:build linux && cgo && nvml

package nvml

import (
	"encoding/binary"
	"math"
	"time"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// historyFrom is the interval from which the driver's own samples (six a second
// at most) tell more than its latest figure.
const historyFrom = 500 * time.Millisecond

// history puts the mean of the samples that the driver took since the last look.
// The first look only learns where the driver's clock stands: what its buffer
// holds is of before. The answer is as long as the driver's buffer and, past what
// was written, empty: entries without a time do not count.
func (g *gpu) history(s *profile.Sample, m profile.Metric, kind driver.SamplingType, seen *uint64) {
	_, list, ret := g.handle.GetSamples(kind, *seen)
	if g.note(code(ret)) != success {
		return
	}
	first := *seen == 0
	last, sum, n := *seen, 0.0, 0
	for i := range list {
		if list[i].TimeStamp == 0 || list[i].TimeStamp <= *seen {
			continue
		}
		last = max(last, list[i].TimeStamp)
		if v := binary.NativeEndian.Uint32(list[i].SampleValue[:]); v <= 100 {
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

// memory puts what of device memory is used. Version 1 of the call counts what
// is reserved as used, and cannot tell it apart.
func (g *gpu) memory(h driver.Device, s *profile.Sample) {
	c := functionMissing
	if g.lib.has[symMemory2] {
		v, ret := h.GetMemoryInfo_v2()
		if c = g.note(code(ret)); c == success {
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
	}
	if !g.failed() && g.lib.has[symMemory] && (c == functionMissing || c == wrongVersion || c == notSupported) {
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

// putMemory puts used and total. A total of 0 is a GPU that shares the host's
// memory and has none of its own.
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

// memoryForm gives the device memory there is, 0 where it cannot be told, and
// whether the driver counts reserved memory as used also in version 2 of the
// call, against what its manual says: then used and free alone make up the total.
func (l *library) memoryForm(h driver.Device) (total float64, folded bool) {
	if l.has[symMemory2] {
		v, ret := h.GetMemoryInfo_v2()
		if ret == driver.SUCCESS && v.Total <= 1<<50 {
			apart := math.Abs(float64(v.Used) + float64(v.Free) + float64(v.Reserved) - float64(v.Total))
			together := math.Abs(float64(v.Used) + float64(v.Free) - float64(v.Total))
			return float64(v.Total), v.Reserved > 0 && together < apart
		}
	}
	if l.has[symMemory] {
		if v, ret := h.GetMemoryInfo(); ret == driver.SUCCESS && v.Total <= 1<<50 {
			return float64(v.Total), false
		}
	}
	return 0, false
}
