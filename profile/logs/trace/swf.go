package trace

import (
	"bytes"
	"fmt"
	"strings"

	"capcli"
)

func init() {
	Formats.Add("swf", "Parallel Workloads Archive, Standard Workload Format 2.2: processors are read as GPUs",
		Format{Sniff: sniffSWF, Read: readSWF})
}

// Indices of the fields of a line that are read, and nth, the number of fields (Chapin et
// al. 1999, "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers"; version
// 2.2).
const (
	swfID, swfSubmit, swfWait, swfRun, swfProcs     = 0, 1, 2, 3, 4
	swfMem, swfWantProcs, swfWantTime, swfWantMem   = 6, 7, 8, 9
	swfStatus, swfUser, swfQueue, swfPartition, nth = 10, 11, 14, 15, 18
	swfBefore, swfThink                             = 16, 17
)

func sniffSWF(head []byte) bool {
	full := len(head) < HeadBytes // head is the whole file, so its last line is complete
	for n := 0; len(head) > 0 && n < 2000; n++ {
		line, rest, whole := bytes.Cut(head, []byte{'\n'})
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == ';':
			if swfHeader(line, "Version:") == "2.2" || swfHeader(line, "UnixStartTime:") != "" {
				return true
			}
		default:
			return (whole || full) && len(bytes.Fields(line)) == nth && bytes.Trim(line, "0123456789+-. \t\r") == nil
		}
		head = rest
	}
	return false
}

// swfHeader returns the value of a header comment "; Name: value", or "" where line is not
// the comment called name.
func swfHeader(line []byte, name string) string {
	text := strings.TrimSpace(strings.TrimLeft(string(line), "; \t"))
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return ""
	}
	return strings.TrimSpace(text[len(name):])
}

// swf reads the lines of a log.
type swf struct {
	r      *Reader
	start  capcli.Time // UnixStartTime of the header; 0 if there is none
	fields [][]byte    // of the current line
	ids    arena
	users  names
	queues names
}

func readSWF(r *Reader) error {
	s := &swf{r: r, fields: make([][]byte, 0, nth+2)}
	for {
		line, n, ok := r.Line()
		if !ok {
			return nil
		}
		body := trim(line)
		switch {
		case len(body) == 0:
		case body[0] == ';':
			s.header(body)
		case !s.row(n, body):
			return nil
		}
	}
}

func (s *swf) header(line []byte) {
	if v := swfHeader(line, "UnixStartTime:"); v != "" {
		n, bad := count([]byte(firstWord(v)))
		switch {
		case bad != flawless:
			s.r.Note(fmt.Sprintf("header UnixStartTime: %q is %s; times count from 0", v, bad))
		case s.r.rep.Kept > 0:
			s.r.Note("header UnixStartTime comes after the first job and is not used")
		default:
			s.start = capcli.Time(n)
		}
	}
	if v := swfHeader(line, "MaxProcs:"); v != "" {
		if n, bad := count([]byte(firstWord(v))); bad == flawless && n <= maxGPUs {
			s.r.SetMachine(int(n))
		}
	}
}

// firstWord returns the first word of text, without a comma at its end.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.TrimRight(word, ",;")
}

func (s *swf) row(n int, line []byte) bool {
	s.fields = splitBlank(s.fields[:0], line)
	if len(s.fields) != nth {
		return s.r.Reject(n, line, fmt.Sprintf("%d fields, want 18", len(s.fields)))
	}
	var v [nth]int64
	for i, f := range s.fields {
		num, _, bad := fixed(f, 1)
		if bad != flawless && i != 5 && i < swfUser {
			return s.r.Reject(n, line, fmt.Sprintf("field %d: %s", i+1, bad))
		}
		v[i] = num
	}
	if st := v[swfStatus]; st >= 2 && st <= 4 {
		s.r.Fold(1)
		return true
	}
	procs := v[swfProcs]
	if procs <= 0 {
		procs = v[swfWantProcs]
	}
	switch {
	case v[swfRun] < 0, v[swfRun] == 0 && (!s.r.o.ZeroRuns || v[swfProcs] <= 0):
		return s.r.Reject(n, line, "never ran: run time 0 or unknown")
	case procs <= 0:
		return s.r.Reject(n, line, "no processors")
	case procs > maxGPUs:
		return s.r.Reject(n, line, "gpus: over 10 million")
	}
	return s.keep(n, line, &v, procs)
}

func (s *swf) keep(n int, line []byte, v *[nth]int64, procs int64) bool {
	job := capcli.Job{
		ID:       s.ids.copyString(s.fields[swfID]),
		Tenant:   s.fieldName(&s.users, swfUser, v, -1),
		GPUs:     int(procs),
		Submit:   s.start + capcli.Time(v[swfSubmit]),
		Eligible: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime,
		Run:   capcli.Seconds(v[swfRun]),
		Limit: capcli.Seconds(max(v[swfWantTime], 0)),
	}
	if job.Partition = s.fieldName(&s.queues, swfPartition, v, 0); job.Partition == "" {
		job.Partition = s.fieldName(&s.queues, swfQueue, v, -1)
	}
	switch v[swfStatus] {
	case 0:
		job.State = "FAILED"
	case 1:
		job.State = "COMPLETED"
	case 5:
		job.State = "CANCELLED"
	}
	kib := v[swfWantMem]
	if kib <= 0 {
		kib = v[swfMem]
	}
	if kib > 0 && kib < 1<<40 { // a larger value is an error of the log
		job.MemMiB = kib * procs / 1024
	}
	if v[swfBefore] > 0 && v[swfThink] < longestDelay { // its user submitted it so long after that job ended
		job.Stage = &capcli.Stage{After: []capcli.After{{ID: s.ids.copyString(s.fields[swfBefore]), When: capcli.AfterAny, Delay: capcli.Seconds(max(0, v[swfThink]))}}}
	}
	if v[swfWait] >= 0 {
		job.Start = job.Submit + capcli.Time(v[swfWait])
		job.End = job.Start + capcli.Time(v[swfRun])
	}
	return s.r.Keep(n, line, &job)
}

// fieldName returns a numeric field as a name, or "" where its value is none or less, which
// means unknown.
func (s *swf) fieldName(of *names, field int, v *[nth]int64, none int64) string {
	if v[field] <= none {
		return ""
	}
	return of.intern(s.fields[field])
}

// splitBlank appends the fields of line, which blanks and tabs separate, to out. It stops
// after one field more than a valid line has.
func splitBlank(out [][]byte, line []byte) [][]byte {
	for i := 0; i < len(line); {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		from := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > from {
			out = append(out, line[from:i])
		}
		if len(out) > nth {
			break
		}
	}
	return out
}
