package live

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"capcli"
)

// packMagic starts a pack of jobs; its last character is the version.
const packMagic = "capjobs1"

// The most that Unpack accepts.
const (
	maxJobs  = 2_000_000
	maxBytes = 1 << 30 // of a pack, inflated
)

// intColumn is a field of a job that is a whole number. Base is subtracted from it in a pack, so
// that the numbers stay small; nil subtracts the value of the job before.
type intColumn struct {
	get  func(*capcli.Job) int64
	set  func(*capcli.Job, int64)
	base func(*capcli.Job) int64
}

// textColumn is a field of a job that is a text, or that a text stands for.
type textColumn struct {
	get func(*capcli.Job) string
	set func(*capcli.Job, string) error
	// copy gives a job the value of another.
	copy func(to, from *capcli.Job)
}

func plainText(field func(*capcli.Job) *string) textColumn {
	return textColumn{
		get: func(j *capcli.Job) string { return *field(j) },
		set: func(j *capcli.Job, s string) error {
			*field(j) = s
			return nil
		},
		copy: func(to, from *capcli.Job) { *field(to) = *field(from) },
	}
}

// tagText returns the tags of a job as JSON; "" for none.
func tagText(j *capcli.Job) string {
	if j.Tags == nil {
		return ""
	}
	b, _ := json.Marshal(j.Tags.All()) // it holds texts only
	return string(b)
}

// setTags gives a job the tags of a text that tagText made.
func setTags(j *capcli.Job, s string) error {
	if s == "" {
		return nil
	}
	var list []capcli.Tag
	if err := json.Unmarshal([]byte(s), &list); err != nil {
		return err
	}
	j.Tags = capcli.NewTags(list...)
	return nil
}

func zero(*capcli.Job) int64     { return 0 }
func submit(j *capcli.Job) int64 { return int64(j.Submit) }

// The columns of a pack, in order. A column may use as its base those before it.
var (
	intColumns = []intColumn{
		{func(j *capcli.Job) int64 { return int64(j.Submit) }, func(j *capcli.Job, v int64) { j.Submit = capcli.Time(v) }, nil},
		{func(j *capcli.Job) int64 { return int64(j.GPUs) }, func(j *capcli.Job, v int64) { j.GPUs = int(v) }, zero},
		{func(j *capcli.Job) int64 { return int64(j.GPUMilli) }, func(j *capcli.Job, v int64) { j.GPUMilli = int(v) }, zero},
		{func(j *capcli.Job) int64 { return j.CPUMilli }, func(j *capcli.Job, v int64) { j.CPUMilli = v }, zero},
		{func(j *capcli.Job) int64 { return j.MemMiB }, func(j *capcli.Job, v int64) { j.MemMiB = v }, zero},
		{func(j *capcli.Job) int64 { return int64(j.Run) }, func(j *capcli.Job, v int64) { j.Run = capcli.Seconds(v) }, zero},
		{func(j *capcli.Job) int64 { return int64(j.Limit) }, func(j *capcli.Job, v int64) { j.Limit = capcli.Seconds(v) }, zero},
		{func(j *capcli.Job) int64 { return int64(j.Priority) }, func(j *capcli.Job, v int64) { j.Priority = int(v) }, zero},
		{func(j *capcli.Job) int64 { return int64(j.Eligible) }, func(j *capcli.Job, v int64) { j.Eligible = capcli.Time(v) }, submit},
		{func(j *capcli.Job) int64 { return int64(j.Start) }, func(j *capcli.Job, v int64) { j.Start = capcli.Time(v) }, submit},
		{
			func(j *capcli.Job) int64 { return int64(j.End) }, func(j *capcli.Job, v int64) { j.End = capcli.Time(v) },
			func(j *capcli.Job) int64 { return int64(j.Start) + int64(j.Run) },
		},
		{func(j *capcli.Job) int64 { return int64(j.Deadline) }, func(j *capcli.Job, v int64) { j.Deadline = capcli.Time(v) }, submit},
		{func(j *capcli.Job) int64 { return j.GPUMemMiB }, func(j *capcli.Job, v int64) { j.GPUMemMiB = v }, zero},
	}
	textColumns = []textColumn{
		plainText(func(j *capcli.Job) *string { return &j.ID }),
		plainText(func(j *capcli.Job) *string { return &j.Tenant }),
		plainText(func(j *capcli.Job) *string { return &j.Partition }),
		plainText(func(j *capcli.Job) *string { return &j.GPUModel }),
		plainText(func(j *capcli.Job) *string { return &j.Class }),
		plainText(func(j *capcli.Job) *string { return &j.State }),
		{tagText, setTags, func(to, from *capcli.Job) { to.Tags = from.Tags }},
	}
)

// Pack returns jobs as columns, deflated: the number of jobs, then each column. A whole number is
// its difference from the column's base, as a varint. Texts are a list of the different ones in the
// order in which they appear, and for each job its place in the list. Differences wrap around, so
// every value comes back, capcli.NoTime too.
func Pack(jobs []capcli.Job) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	b := binary.AppendUvarint([]byte(packMagic), uint64(len(jobs)))
	for _, c := range intColumns {
		last := int64(0)
		for i := range jobs {
			j := &jobs[i]
			if c.base != nil {
				last = c.base(j)
			}
			v := c.get(j)
			b = binary.AppendVarint(b, v-last)
			last = v
		}
	}
	for _, text := range textColumns {
		b = appendTexts(b, jobs, text)
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func appendTexts(b []byte, jobs []capcli.Job, text textColumn) []byte {
	places := map[string]int64{}
	var list, index []byte
	last := int64(0)
	for i := range jobs {
		s := text.get(&jobs[i])
		place, known := places[s]
		if !known {
			place = int64(len(places))
			places[s] = place
			list = binary.AppendUvarint(list, uint64(len(s)))
			list = append(list, s...)
		}
		index = binary.AppendVarint(index, place-last)
		last = place
	}
	b = binary.AppendUvarint(b, uint64(len(places)))
	b = append(b, list...)
	return append(b, index...)
}

// Unpack returns the jobs of a pack. It fails with *capcli.InputError.
func Unpack(pack []byte) ([]capcli.Job, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(pack)), maxBytes+1))
	if err != nil {
		return nil, badPack("expected deflated columns, found " + err.Error())
	}
	if len(text) > maxBytes {
		return nil, badPack(fmt.Sprintf("expected at most %d bytes, found more", maxBytes))
	}
	if !bytes.HasPrefix(text, []byte(packMagic)) {
		return nil, badPack("expected a pack of jobs, found something else")
	}
	r := &unpacker{rest: text[len(packMagic):]}
	// Each job takes a byte of each column, so the number of jobs is bounded by the bytes that came.
	n := r.count(maxJobs, len(intColumns)+len(textColumns))
	jobs := make([]capcli.Job, n)
	for _, c := range intColumns {
		last := int64(0)
		for i := range jobs {
			j := &jobs[i]
			if c.base != nil {
				last = c.base(j)
			}
			last += r.varint()
			c.set(j, last)
		}
	}
	for _, text := range textColumns {
		r.texts(jobs, text)
	}
	switch {
	case r.wrong != "":
		return nil, badPack(r.wrong)
	case len(r.rest) > 0:
		return nil, badPack(fmt.Sprintf("expected an end, found %d more bytes", len(r.rest)))
	}
	return jobs, nil
}

func badPack(text string) error {
	return &capcli.InputError{File: "jobs", Text: text, Hint: "make the page again with capcli report --live"}
}

// unpacker reads columns. After a fault it returns zeros.
type unpacker struct {
	rest  []byte
	wrong string
}

func (r *unpacker) fail(text string) {
	r.wrong = cmp.Or(r.wrong, text)
	r.rest = nil
}

func (r *unpacker) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail("expected a number, found the end")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads the number of things that follow, each of at least size bytes.
func (r *unpacker) count(most uint64, size int) int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > most || v > uint64((len(r.rest)-n)/size) {
		r.fail("expected a count, found one that is too large")
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

// texts reads a column of texts. Each text is read once; other jobs with it share what was made of it.
func (r *unpacker) texts(jobs []capcli.Job, text textColumn) {
	list := make([]capcli.Job, r.count(maxJobs, 1))
	for i := range list {
		n := r.count(maxBytes, 1)
		if err := text.set(&list[i], string(r.rest[:n])); err != nil {
			r.fail(err.Error())
			return
		}
		r.rest = r.rest[n:]
	}
	place := int64(0)
	for i := range jobs {
		place += r.varint()
		if place < 0 || place >= int64(len(list)) {
			r.fail(fmt.Sprintf("expected the place of a text, found %d of %d", place, len(list)))
			return
		}
		text.copy(&jobs[i], &list[place])
	}
}
