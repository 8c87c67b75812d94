package trace

import (
	"maps"
	"slices"

	"capcli"
)

// lengths counts durations to the second: in an array those under about twelve days, in a
// map the few longer ones.
type lengths struct {
	n     int64                    // durations counted
	sum   float64                  // seconds
	max   capcli.Seconds           // longest duration
	short []int64                  // count by seconds, under shortLengths
	long  map[capcli.Seconds]int64 // count by seconds, from shortLengths on
}

// shortLengths is the duration in seconds, about twelve days, from which the map counts.
const shortLengths = 1 << 20

func (l *lengths) add(s capcli.Seconds) {
	l.n++
	l.sum += float64(s)
	l.max = max(l.max, s)
	if s >= shortLengths {
		if l.long == nil {
			l.long = map[capcli.Seconds]int64{}
		}
		l.long[s]++
		return
	}
	if int(s) >= len(l.short) {
		l.short = append(l.short, make([]int64, min(max(1024, 2*int(s)), shortLengths)-len(l.short))...)
	}
	l.short[s]++
}

func (l *lengths) quantiles() Quantiles {
	if l.n == 0 {
		return Quantiles{}
	}
	q := Quantiles{MeanS: l.sum / float64(l.n), Max: l.max}
	want := []struct {
		percent int64
		to      *capcli.Seconds
	}{{50, &q.P50}, {90, &q.P90}, {95, &q.P95}, {99, &q.P99}}
	var below int64
	l.forEachLength(func(s capcli.Seconds, n int64) bool {
		below += n
		for len(want) > 0 && below*100 >= want[0].percent*l.n {
			*want[0].to = s
			want = want[1:]
		}
		return len(want) > 0
	})
	return q
}

// forEachLength calls do with each duration that was counted and its count, in ascending
// order, until do returns false.
func (l *lengths) forEachLength(do func(s capcli.Seconds, n int64) bool) {
	for s, n := range l.short {
		if n > 0 && !do(capcli.Seconds(s), n) {
			return
		}
	}
	for _, s := range slices.Sorted(maps.Keys(l.long)) {
		if !do(s, l.long[s]) {
			return
		}
	}
}

// levels adds up GPUs over time by clock hours, exactly. It stores GPUs held through whole
// hours as a change at the first and the last of them, and GPUs held in part of an hour as
// GPU time in that hour.
type levels struct {
	base  int64   // hours since 1970 of index 0
	steps []int64 // by hour: change of the thousandths of a GPU held from this hour on
	parts []int64 // by hour: thousandths of a GPU times seconds, held in part of the hour
}

// hour is the seconds of an hour.
const hour = 3600

// add adds milli thousandths of a GPU from one time to another.
func (l *levels) add(from, to capcli.Time, milli int64) {
	if to <= from {
		return
	}
	first, last := int64(from)/hour, int64(to)/hour
	l.reach(first, last)
	if first == last {
		l.parts[first-l.base] += milli * int64(to-from)
		return
	}
	l.parts[first-l.base] += milli * ((first+1)*hour - int64(from))
	l.parts[last-l.base] += milli * (int64(to) - last*hour)
	l.steps[first+1-l.base] += milli
	l.steps[last-l.base] -= milli
}

// reach grows the slices so that they hold the hours from first to last.
func (l *levels) reach(first, last int64) {
	if l.steps == nil {
		l.base = first
	}
	if first < l.base {
		more := l.base - first + int64(len(l.steps)) // doubles the length, so that jobs in reverse order stay cheap
		l.steps = append(make([]int64, more, more+int64(len(l.steps))), l.steps...)
		l.parts = append(make([]int64, more, more+int64(len(l.parts))), l.parts...)
		l.base -= more
	}
	if n := last - l.base + 1 - int64(len(l.steps)); n > 0 {
		l.steps = append(l.steps, make([]int64, n)...)
		l.parts = append(l.parts, make([]int64, n)...)
	}
}

// level returns the summary. Its mean is over the hours from that of first to that of last,
// both included.
func (l *levels) level(first, last capcli.Time) Level {
	out := Level{PeakAt: capcli.NoTime}
	var held, most int64
	var within float64
	for i := range l.steps {
		held += l.steps[i]
		inHour := held*hour + l.parts[i]
		at := l.base + int64(i)
		if inHour > most {
			most, out.PeakAt = inHour, capcli.Time(at*hour)
		}
		if at >= int64(first)/hour && at <= int64(last)/hour {
			within += float64(inHour)
		}
	}
	out.PeakGPUs = float64(most) / (1000 * hour)
	out.MeanGPUs = within / (1000 * hour) / float64(int64(last)/hour-int64(first)/hour+1)
	return out
}
