package trace

import (
	"bytes"

	"capcli"
)

func init() {
	Formats.Add("gaia", "GAIA's arrival_time,length,cpus (Hanafy et al., ASPLOS'24): CPUs are read as GPUs",
		Format{Sniff: sniffGaia, Read: readGaia})
}

func sniffGaia(head []byte) bool { return headHas(head, "arrival_time", "length", "cpus") }

func readGaia(r *Reader) error {
	scale := int64(1)
	if inHours(r.text.Head(HeadBytes)) {
		scale = 3600
		r.Note("arrival_time and length are fractions that are whole seconds when read as hours: they were read as hours")
	}
	t, err := newTable(r, capcli.Fields{})
	if err != nil {
		return err
	}
	if err := t.need("arrival_time", "length", "cpus"); err != nil {
		return err
	}
	id, submit, length, cpus := t.col("ID", "job_id"), t.col("arrival_time"), t.col("length"), t.col("cpus")
	var ids arena
	for t.next() {
		job := capcli.Job{Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime}
		if job.ID = ids.copyString(t.cell(id)); job.ID == "" {
			job.ID = ids.number(t.rows)
		}
		field, bad := gaiaJob(&job, scale, t.cell(submit), t.cell(length), t.cell(cpus))
		if !t.take(&job, field, bad) {
			return nil
		}
	}
	return nil
}

func gaiaJob(job *capcli.Job, scale int64, submit, length, cpus []byte) (field string, bad flaw) {
	at, _, bad := fixed(submit, scale)
	if bad != flawless {
		return "arrival_time", bad
	}
	run, _, bad := fixed(length, scale)
	if bad != flawless {
		return "length", bad
	}
	if job.GPUs, job.GPUMilli, bad = parseGPUs(cpus); bad != flawless {
		return "cpus", bad
	}
	job.Submit, job.Run = capcli.Time(at), capcli.Seconds(run)
	return "", flawless
}

// inHours tells whether the rows in head count hours: some value is no whole
// number, and every value is a whole number of seconds when it is an hour.
func inHours(head []byte) bool {
	lines := bytes.Split(head, []byte{'\n'})
	fractions := false
	for i, line := range lines {
		cells := bytes.Split(bytes.TrimSuffix(line, []byte{'\r'}), []byte{','})
		if i == 0 || i == len(lines)-1 && i > 1 || len(cells) < 2 {
			continue // the header, and what may be half a line
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
