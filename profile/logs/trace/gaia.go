package trace

import (
	"bytes"

	"capcli"
)

func init() {
	addTable("gaia", "GAIA's arrival_time,length,cpus (Hanafy et al., ASPLOS'24): CPUs are read as GPUs", tableFormat{
		needs:   []string{"arrival_time", "length", "cpus"},
		prepare: findHours,
		columns: []column{
			{"arrival_time", readArrival},
			{"length", readRun},
			{"cpus", readGPUs},
			{"ID|job_id", readIDOrRow},
		},
	})
}

// findHours sets the unit of time to hours where the table counts hours, and notes it.
func findHours(t *tableReader, head []byte) error {
	if inHours(head) {
		t.scale = 3600
		t.r.Note("arrival_time and length are fractions that are whole seconds when read as hours: they were read as hours")
	}
	return nil
}

func readArrival(t *tableReader, job *capcli.Job, cell []byte) flaw {
	at, _, bad := fixed(cell, t.scale)
	job.Submit = capcli.Time(at)
	return bad
}

// inHours reports whether the times in head count hours: at least one value is not a whole
// number, and every value, read as hours, is a whole number of seconds.
func inHours(head []byte) bool {
	lines := bytes.Split(head, []byte{'\n'})
	fractions := false
	for i, line := range lines {
		cells := bytes.Split(bytes.TrimSuffix(line, []byte{'\r'}), []byte{','})
		if i == 0 || i == len(lines)-1 && i > 1 || len(cells) < 2 {
			continue // the header, or a last line that may be incomplete
		}
		for _, cell := range cells[:2] {
			// Thousandths of a second, so that noise in the last decimal passes.
			n, _, bad := fixed(cell, 3_600_000)
			if bad != flawless {
				continue
			}
			if off := n % 1000; off > 1 && off < 999 {
				return false
			}
			_, whole, _ := fixed(cell, 1)
			fractions = fractions || !whole
		}
	}
	return fractions
}
