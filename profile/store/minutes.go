package store

import (
	"math"

	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// Indexes of the columns of the table minutes; those of the device are as in the table samples.
const (
	minuteTS    = 0
	minuteIndex = 1
	minuteSeen  = minuteIndex + deviceColumns + iota - 2
	minuteSamples
	minuteKnown
	minuteActive
	minuteSwitches
	minuteThrottle
	minuteMemUsed
	minuteMemTotal
	minuteHolders
	minuteMetrics // mean and highest value of each metric of which a minute has features
)

func minuteSpec() spec {
	const gi, ci, uuid = minuteIndex + sampleGI - sampleIndex, minuteIndex + sampleCI - sampleIndex, minuteIndex + sampleUUID - sampleIndex
	s := spec{name: "minutes", key: minuteTS, order: []int{minuteIndex, gi, ci, uuid}}
	number := func(at int, name, doc string) {
		s.add(at, doc, parquet.Column{Name: name, Kind: parquet.Int64, Repeats: true})
	}
	s.add(minuteTS, "begin of the minute, UTC", parquet.Column{Name: "ts", Kind: parquet.Instant, Packing: parquet.Deltas})
	s.devices(minuteIndex)
	number(minuteSeen, "seen_us", "time for which its samples stand")
	number(minuteSamples, "samples", "number of samples")
	number(minuteKnown, "known_us", "time in which it was known whether the device computes")
	number(minuteActive, "active_us", "of it, time in which it did")
	number(minuteSwitches, "switches", "times that it began to compute, or stopped")
	number(minuteThrottle, "throttle_reasons", "why clocks were held back, in any of the samples: NVML's bits of clocks event reasons")
	number(minuteMemUsed, "mem_used_bytes_max", "the most device memory in use")
	number(minuteMemTotal, "mem_total_bytes", "device memory there is")
	s.add(minuteHolders, "jobs that held the device, as JSON; null where none did", word("holders", true))
	for _, m := range profile.MinuteMetrics() {
		of := metricColumn(m)
		mean := parquet.Column{Name: of.Name + "_mean", Kind: of.Kind, Packing: of.Packing, Repeats: of.Repeats, Nullable: true}
		if profile.Metrics[m].Unit == "%" {
			mean.Kind, mean.Packing, mean.Repeats = parquet.Float32, parquet.Split, false
		}
		s.add(len(s.columns), "mean over the minute", mean)
		s.add(len(s.columns), "highest sample of the minute", parquet.Column{Name: of.Name + "_max", Kind: of.Kind, Packing: of.Packing, Repeats: of.Repeats, Nullable: true})
	}
	return s
}

// HostMinute is what one device did in one minute, and who held it.
type HostMinute struct {
	Host    string
	Device  *profile.Device
	Holders []profile.Holder
	*profile.Minute
}

// minuteRows turns minutes into rows of the table minutes.
type minuteRows struct {
	*block
	holders *holderWords
}

func (r *minuteRows) minute(s *profile.Span, m *profile.Minute) {
	b := r.block
	b.int(minuteTS, int64(m.Start))
	b.device(minuteIndex, s.Device)
	b.int(minuteSeen, m.Seen)
	b.int(minuteSamples, int64(m.Samples))
	b.int(minuteKnown, m.Known)
	b.int(minuteActive, m.Active)
	b.int(minuteSwitches, int64(m.Switches))
	b.int(minuteThrottle, int64(m.Throttle)) //nolint:gosec // bits that a Minute keeps are 32
	b.int(minuteMemUsed, int64(m.MemUsed))
	b.int(minuteMemTotal, int64(m.MemTotal))
	b.text(minuteHolders, r.holders.text(s))
	for i, metric := range profile.MinuteMetrics() {
		f := m.Feature(metric)
		mean, most := &b.cols[minuteMetrics+2*i], &b.cols[minuteMetrics+2*i+1]
		if f.Micros == 0 {
			mean.AddNull()
			most.AddNull()
			continue
		}
		if v := f.Mean(); mean.Floats != nil {
			mean.AddFloat(math.Round(v*8) / 8)
		} else {
			mean.AddInt(int64(math.Round(v)))
		}
		if most.Floats != nil {
			most.AddFloat(f.Max)
		} else {
			most.AddInt(int64(math.Round(f.Max)))
		}
	}
	b.n++
}
