package validate

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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

// ParseCapacity reads the capacity from a table with a header, in CSV. With a column time (or at,
// from, date, ds) each row is the capacity from that time on: seconds since 1970, or a date in UTC.
// Else each row is a node, and the capacity is the sum of its column gpus (or gpu, cpus). It fails
// with *capcli.InputError.
func ParseCapacity(file string, text []byte) ([]CapacityStep, error) {
	bad := func(line int, field, format string, args ...any) error {
		return &capcli.InputError{
			File: file, Line: line, Field: field, Text: fmt.Sprintf(format, args...),
			Hint: "write a CSV with the columns time,capacity, or a list of nodes with a column gpus",
		}
	}
	r := csv.NewReader(bytes.NewReader(text))
	head, err := r.Read()
	if err != nil {
		return nil, bad(1, "", "expected a table with a header, found %s", cmp.Or(emptyText(err), err.Error()))
	}
	when, level := findColumn(head, timeColumns), findColumn(head, levelColumns)
	if level < 0 {
		return nil, bad(1, "", "expected a column capacity, gpus or cpus, found %s", capcli.Quoted(strings.Join(head, ",")))
	}
	var steps []CapacityStep
	var sum int64
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, bad(0, "", "not valid CSV: %s", err)
		}
		line, _ := r.FieldPos(0)
		n, err := strconv.ParseInt(strings.TrimSpace(row[level]), 10, 64)
		if err != nil || n < 0 || n > mostCapacity {
			return nil, bad(line, head[level], "expected a whole number up to 10 million, found %s", capcli.Quoted(row[level]))
		}
		if sum += n; when < 0 {
			if sum > mostCapacity {
				return nil, bad(line, head[level], "the nodes have over 10 million in all")
			}
			continue
		}
		at, err := parseInstant(strings.TrimSpace(row[when]))
		if err != nil {
			return nil, bad(line, head[when], "%s", err)
		}
		steps = append(steps, CapacityStep{at, n})
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

// emptyText says that a file is empty; "" for another error.
func emptyText(err error) string {
	if errors.Is(err, io.EOF) {
		return "an empty file"
	}
	return ""
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

// findColumn returns the index of the first of some names in a header; -1 where there is none.
func findColumn(head, names []string) int {
	for _, name := range names {
		for i, h := range head {
			if strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")), name) {
				return i
			}
		}
	}
	return -1
}
