package parquet

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"capcli/profile/logs/trace"
)

// asCSV reads the rows with the csv format. It is for files whose numbers or instants are text:
// they then mean the same as in a CSV file.
func (j *jobs) asCSV() error {
	o := j.r.Options()
	rows := &csvRows{j: j}
	rows.header()
	tags := j.columnsOfTags()
	going := true
	inner, err := trace.Open(trace.Input{Name: j.r.Input().Name, R: rows}, trace.Options{
		Format: "csv", Tags: tags, TZ: o.TZ, DSTLater: o.DSTLater, Unit: o.Unit, Dates: o.Dates,
		Rejects: func(x trace.Reject) {
			going = going && j.r.Reject(x.Line-1, []byte(x.Text), x.Reason)
		},
	})
	if err != nil {
		return err
	}
	line := 0
	for job, err := range inner.Jobs() {
		if rows.err != nil {
			return rows.err
		}
		if err != nil {
			if inner.Report().Rejected == j.f.meta.NumRows && j.f.meta.NumRows > 0 {
				return nil // every row was rejected: the outer reader reports that
			}
			return err
		}
		line++
		if going = going && j.r.Keep(line, nil, &job); !going {
			return nil
		}
	}
	for _, a := range inner.Report().Assumed {
		for range a.N {
			j.r.Assume(a.Reason)
		}
	}
	return rows.err
}

func tagColumn(i int) string { return "column" + strconv.Itoa(i) }

// columnsOfTags returns the tags with the columns in which csvRows has them.
func (j *jobs) columnsOfTags() []trace.TagWish {
	var out []trace.TagWish
	if j.tags == nil {
		return nil
	}
	for t, at := range j.tags.Columns() {
		out = append(out, trace.TagWish{Name: t, Column: tagColumn(slices.Index(j.read, j.columns[at]))})
	}
	return out
}

// csvRows reads the wanted columns of the file as CSV text.
type csvRows struct {
	j    *jobs
	b    []byte
	at   int // b[at:] is not yet read
	done bool
	err  error
}

// csvColumns calls each with the index of every column of the csv format: all but gpu_milli,
// which goes into gpus.
func csvColumns(each func(i int)) {
	for i := range wants {
		if i != colMilli {
			each(i)
		}
	}
}

func (c *csvRows) header() {
	var names []string
	csvColumns(func(i int) {
		if c.j.fields[i].cur != nil {
			names = append(names, wants[i].name)
		}
	})
	for i := range c.j.read {
		names = append(names, tagColumn(i))
	}
	c.b = append(c.b, strings.Join(names, ",")+"\n"...)
}

// Read implements io.Reader.
func (c *csvRows) Read(p []byte) (int, error) {
	for c.at == len(c.b) {
		if c.done || c.err != nil {
			return 0, io.EOF
		}
		c.b, c.at = c.b[:0], 0
		n, err := c.j.nextBatch()
		c.done, c.err = n == 0, err
		for k := range n {
			c.row(k)
		}
	}
	n := copy(p, c.b[c.at:])
	c.at += n
	return n, nil
}

func (c *csvRows) row(k int) {
	first := true
	csvColumns(func(i int) {
		d := &c.j.fields[i]
		if d.cur == nil {
			return
		}
		if !first {
			c.b = append(c.b, ',')
		}
		first = false
		milli := &c.j.fields[colMilli]
		if i == colGPUs && milli.cur != nil && !milli.isWorded() && milli.num[k] > 0 {
			c.b = strconv.AppendFloat(c.b, float64(milli.num[k])/1000, 'f', 3, 64)
			return
		}
		c.b = d.write(c.b, k)
	})
	for _, d := range c.j.read {
		c.b = d.write(append(c.b, ','), k)
	}
	c.b = append(c.b, '\n')
}
