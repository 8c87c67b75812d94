package profile

import "math"

// minuteMetrics are the metrics of which a Minute keeps features.
var minuteMetrics = [...]Metric{
	UtilGPU, UtilMem, SMActive, SMOccupancy, TensorActive, DRAMActive, FP64Active, FP32Active, FP16Active,
	Power, PowerLimit, ClockSM, PCIeTx, PCIeRx, NVLinkTx, NVLinkRx,
}

// Minute is what one device did in one whole minute of UTC, or in the part of it in which the same
// jobs held it and no samples are missing. A sample belongs to the minute that it was taken in.
type Minute struct {
	Start    Instant // of the whole minute
	Seen     int64   // microseconds that its samples stand for
	Samples  int32
	Known    int64   // microseconds in which it was known whether the device computes
	Active   int64   // of them in which it did
	Switches int32   // times that it began to compute, or stopped
	Throttle uint64  // reasons why clocks were held back, of all samples: bits of NVML
	MemUsed  float64 // the most, bytes
	MemTotal float64

	features [len(minuteMetrics)]Feature
	last     int8 // 1 after an active sample, -1 after an idle one, 0 before any
}

// Feature is what a metric was over a minute.
type Feature struct {
	Micros   int64   // microseconds in which it was known
	Sum      uint64  // of value x microseconds, in eighths
	Min, Max float64 // 0 where it was never known
}

// Mean is the mean over time, NaN where the metric was never known.
func (f Feature) Mean() float64 { return float64(f.Sum) / 8 / float64(f.Micros) }

// featureOf is the index of a metric's feature, or -1.
var featureOf = func() (out [NumMetrics]int8) {
	for m := range out {
		out[m] = -1
	}
	for i, m := range minuteMetrics {
		out[m] = int8(i)
	}
	return out
}()

// Feature returns what a metric was; nothing of those that a minute does not keep.
func (m *Minute) Feature(of Metric) Feature {
	if i := featureOf[of]; i >= 0 {
		return m.features[i]
	}
	return Feature{}
}

// MinuteMetrics returns the metrics of which a Minute has features.
func MinuteMetrics() []Metric { return minuteMetrics[:] }

// add counts a sample that stands for some microseconds.
func (m *Minute) add(s *Sample, micros int64) {
	m.Seen += micros
	m.Samples++
	if active, known := s.Active(); known {
		now := int8(-1)
		m.Known += micros
		if active {
			m.Active += micros
			now = 1
		}
		if m.last == -now {
			m.Switches++
		}
		m.last = now
	}
	for i, metric := range minuteMetrics {
		v, ok := s.Get(metric)
		if !ok {
			continue
		}
		f := &m.features[i]
		if f.Micros == 0 || v < f.Min {
			f.Min = v
		}
		f.Max = max(f.Max, v)
		f.Micros += micros
		f.Sum += eighths(v) * uint64(micros)
	}
	if v, ok := s.Get(Throttle); ok && v < math.MaxUint32 {
		m.Throttle |= uint64(v)
	}
	if v, ok := s.Get(MemUsed); ok {
		m.MemUsed = max(m.MemUsed, v)
	}
	if v, ok := s.Get(MemTotal); ok {
		m.MemTotal = max(m.MemTotal, v)
	}
}
