package validate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"capcli"
)

// CapacityMax is the most bytes of a file with the capacity.
const CapacityMax = 64 << 20

// mostCapacity is the largest capacity that a file may state, in GPUs, CPUs or nodes.
const mostCapacity = 10_000_000

var (
	timeColumns  = []string{"time", "at", "from", "date", "ds", "t_s"}
	levelColumns = []string{"capacity", "gpus", "units", "gpu", "num_gpus", "cpus", "nodes", "y"}
)

// parseCapacity reads the capacity from a table with a header, in CSV. With a column time (or at,
// from, date, ds) each row is the capacity from that time on: seconds since 1970, or a date in UTC.
// Else each row is a node, and the capacity is the sum of its column gpus (or gpu, cpus). It fails
// with *capcli.InputError.
func parseCapacity(file string, text []byte) ([]CapacityStep, error) {
	bad := func(line int, field, format string, args ...any) error {
		return &capcli.InputError{
			File: file, Line: line, Field: field, Text: fmt.Sprintf(format, args...),
			Hint: "write a CSV with the columns time,capacity, or a list of nodes with a column gpus",
		}
	}
	s, err := capcli.NewSheet(file, bytes.NewReader(text), ",;\t")
	if err != nil {
		return nil, err
	}
	when, level := s.FindColumn(timeColumns...), s.FindColumn(levelColumns...)
	if level < 0 {
		return nil, bad(1, "", "expected a column capacity, gpus or cpus, found %s", s.QuotedNames())
	}
	var steps []CapacityStep
	var sum int64
	err = s.EachRow(func() error {
		n, err := strconv.ParseInt(s.Cell(level), 10, 64)
		if err != nil || n < 0 || n > mostCapacity {
			return bad(s.Line, s.Names[level], "expected a whole number up to 10 million, found %s", capcli.Quoted(s.Cell(level)))
		}
		if sum += n; when < 0 {
			if sum > mostCapacity {
				return bad(s.Line, s.Names[level], "the nodes have over 10 million in all")
			}
			return nil
		}
		at, err := parseInstant(s.Cell(when))
		if err != nil {
			return bad(s.Line, s.Names[when], "%s", err)
		}
		steps = append(steps, CapacityStep{at, n})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if when < 0 {
		steps = []CapacityStep{{capcli.NoTime, sum}}
	}
	slices.SortStableFunc(steps, func(a, b CapacityStep) int { return cmp.Compare(a.At, b.At) })
	if len(steps) == 0 || highest(steps) == 0 {
		return nil, bad(0, "", "expected a capacity, found none")
	}
	return steps, nil
}

// highest is the most capacity of some steps.
func highest(steps []CapacityStep) int64 {
	var most int64
	for _, s := range steps {
		most = max(most, s.Units)
	}
	return most
}

// parseInstant reads seconds since 1970, or a date or time, in UTC unless it says another zone.
func parseInstant(text string) (capcli.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 || n > 1<<33 {
			return 0, fmt.Errorf("expected seconds since 1970 up to the year 2242, found %d", n)
		}
		return capcli.Time(n), nil
	}
	return capcli.ParseTime(text, nil, false)
}
