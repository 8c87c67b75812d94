package series

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"capcli"
)

// step returns the common step of the stamps of all series: the most frequent distance, if all
// other distances are multiples of it. Where that distance is near a day or a month it tries
// calendar days and months before a fixed length. It fails where no step fits.
func (t *Table) step(zone *time.Location) (step, error) {
	if t.Stamp == None {
		return step{stamps: 1}, nil
	}
	counts := map[int64]int{}
	t.eachGap(func(_ *Raw, _, _ Row, gap int64) bool { counts[gap]++; return true })
	if len(counts) == 0 { // each series is a single value: any step fits
		return step{stamps: 1, times: capcli.Step{Days: 1}}, nil
	}
	usual := Mode(counts)
	fits := true
	for gap := range counts {
		fits = fits && gap%usual == 0
	}
	if t.Stamp == Index {
		if !fits {
			return step{}, t.mixed(fmt.Sprint(usual), zone, func(_, _ Row, gap int64) bool { return gap%usual == 0 })
		}
		return step{stamps: usual}, nil
	}
	if usual >= 20*int64(capcli.Day) { // before a fixed length, because a month is not always 30 days
		if s, ok := t.months(zone); ok {
			return s, nil
		}
	}
	if usual >= 20*int64(capcli.Hour) {
		if s, ok := t.days(zone); ok {
			return s, nil
		}
	}
	if !fits {
		return step{}, t.mixed(capcli.Step{Seconds: capcli.Seconds(usual)}.String(), zone, func(_, _ Row, gap int64) bool { return gap%usual == 0 })
	}
	return step{times: capcli.Step{Seconds: capcli.Seconds(usual)}}, nil
}

// Mode returns the most frequent gap; of several the shortest.
func Mode(counts map[int64]int) int64 {
	best, n := int64(0), 0
	for gap, c := range counts {
		if c > n || c == n && gap < best {
			best, n = gap, c
		}
	}
	return best
}

// eachGap calls do with each pair of adjacent rows with different stamps, until do returns false.
func (t *Table) eachGap(do func(s *Raw, a, b Row, gap int64) bool) {
	for i := range t.Series {
		rows := t.Series[i].Rows
		for k := 1; k < len(rows); k++ {
			if gap := rows[k].At - rows[k-1].At; gap != 0 && !do(&t.Series[i], rows[k-1], rows[k], gap) {
				return
			}
		}
	}
}

// mixed returns the error for stamps whose distances are not all multiples of usual.
func (t *Table) mixed(usual string, zone *time.Location, fits func(a, b Row, gap int64) bool) error {
	n, all := 0, 0
	var first *Row
	name := ""
	t.eachGap(func(s *Raw, a, b Row, gap int64) bool {
		if all++; !fits(a, b, gap) {
			if n++; first == nil {
				row := b
				first, name = &row, s.Name
			}
		}
		return true
	})
	hint := "combine them into equal steps: --step 1h, 1d or 1w with --agg mean, sum or max"
	if t.Stamp == Index {
		hint = "number the rows evenly, or give times"
	}
	return t.fault(first.Line, "ds", fmt.Sprintf("the steps are mixed: %s of %s are not a multiple of %s, the first in %s at %s", capcli.Grouped(int64(n)), capcli.Grouped(int64(all)), usual, name, t.Text(first.At, zone)), hint)
}

// fewestCoarse is the least number of equal distances in a row, longer than the step, that are a
// step of their own and not gaps.
const fewestCoarse = 6

// changedStep returns an error, and the longer step, where rows of one step are followed by rows of
// a longer one, or series have different steps: as one step they would be mostly gaps. The error is
// nil where all rows have the native step.
func (t *Table) changedStep(native step, zone *time.Location) (capcli.Seconds, error) {
	usual := float64(native.times.Length())
	if t.Stamp != Instant || usual == 0 {
		return 0, nil
	}
	var was *Raw
	var first Row
	run, times, longest, found := 0, 0.0, 0, error(nil)
	coarse := capcli.Seconds(0)
	t.eachGap(func(s *Raw, _, b Row, gap int64) bool {
		k := math.Round(float64(gap) / usual)
		if s != was || k != times || k < 2 {
			run, times, first, was = 0, k, b, s
		}
		if run++; k >= 2 && run >= fewestCoarse && run > longest {
			longest, coarse = run, capcli.Seconds(k*usual)
			found = t.fault(first.Line, "ds", fmt.Sprintf("%s: the steps change: from %s on %d steps in a row are of %s, others of %s", s.Name, t.Text(first.At, zone), run, spanText(coarse), spanText(capcli.Seconds(usual))),
				fmt.Sprintf("bring all to the longer step, each the mean of its rows: --step %s", spanText(coarse)))
		}
		return true
	})
	return coarse, found
}

// spanText returns a length, in days where it is a whole number of them.
func spanText(s capcli.Seconds) string {
	if s%capcli.Day == 0 {
		return capcli.Step{Days: int(s / capcli.Day)}.String()
	}
	return capcli.Step{Seconds: s}.String()
}

// civil returns a stamp as a time in zone; nil is UTC.
func civil(at int64, zone *time.Location) time.Time {
	zone = cmp.Or(zone, time.UTC)
	return time.Unix(at, 0).In(zone)
}

// secondOfDay returns the seconds that clocks show since midnight.
func secondOfDay(t time.Time) int {
	h, m, s := t.Clock()
	return (h*60+m)*60 + s
}

// months returns the step in calendar months. It reports false unless all stamps of each series are at
// the same time of day, and on the same day of the month or each on the last day of its month.
func (t *Table) months(zone *time.Location) (step, bool) {
	counts := map[int64]int{}
	same, ends := true, true
	for i := range t.Series {
		rows := t.Series[i].Rows
		first := civil(rows[0].At, zone)
		was := first
		for k, row := range rows {
			at := civil(row.At, zone)
			if secondOfDay(at) != secondOfDay(first) {
				return step{}, false
			}
			same = same && at.Day() == first.Day()
			ends = ends && at.AddDate(0, 0, 1).Day() == 1
			if !same && !ends {
				return step{}, false
			}
			if gap := int64(at.Year()-was.Year())*12 + int64(at.Month()-was.Month()); k > 0 && gap != 0 {
				counts[gap]++
			}
			was = at
		}
	}
	if len(counts) == 0 {
		return step{}, false
	}
	usual := Mode(counts)
	for gap := range counts {
		if gap%usual != 0 {
			usual = 1
		}
	}
	return step{times: capcli.Step{Months: int(usual)}, monthEnd: !same}, true
}

// days returns the step in calendar days. It reports false unless all stamps of each series are at the
// same time of day and all distances are multiples of the most frequent one.
func (t *Table) days(zone *time.Location) (step, bool) {
	counts := map[int64]int{}
	for i := range t.Series {
		rows := t.Series[i].Rows
		days := make([]int64, len(rows))
		first := secondOfDay(civil(rows[0].At, zone))
		for k, row := range rows {
			at := civil(row.At, zone)
			if secondOfDay(at) != first {
				return step{}, false
			}
			y, mo, d := at.Date()
			days[k] = time.Date(y, mo, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
		}
		for k := 1; k < len(days); k++ {
			if gap := days[k] - days[k-1]; gap != 0 {
				counts[gap]++
			}
		}
	}
	if len(counts) == 0 {
		return step{}, false
	}
	usual := Mode(counts)
	for gap := range counts {
		if gap%usual != 0 {
			return step{}, false // mixed steps; the caller makes the error
		}
	}
	return step{times: capcli.Step{Days: int(usual)}}, true
}
