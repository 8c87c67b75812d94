package trace

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"capcli"
)

// fuzz feeds any bytes to one format: it must not panic or hang, every job it
// gives out is sound, every row is counted once, and it ends with an error
// that says where.
func fuzz(f *testing.F, format string) {
	for _, data := range samples(f, format) {
		f.Add(data, true)
	}
	f.Add([]byte("a,b\n\"x\ny\",\"\"\n"), false)
	f.Add([]byte("\ufeff;;\r\n|||\x1f"), true)
	f.Fuzz(func(t *testing.T, data []byte, zone bool) {
		o := Options{Format: format}
		if zone {
			o.TZ = time.UTC
		}
		rejects := int64(0)
		o.Rejects = func(Reject) { rejects++ }
		r, err := Open(Input{Name: "fuzz", R: bytes.NewReader(data)}, o)
		if err != nil {
			inputFault(t, err)
			return
		}
		n := int64(0)
		for job, err := range r.Jobs() {
			if err != nil {
				inputFault(t, err)
				continue
			}
			sound(t, &job)
			n++
		}
		rep := r.Report()
		if rep.Rows != rep.Kept+rep.Folded+rep.Rejected || rep.Kept != n || rep.Rejected != rejects {
			t.Errorf("rows do not add up: %+v, %d jobs, %d rejects", rep, n, rejects)
		}
	})
}

func inputFault(t *testing.T, err error) {
	t.Helper()
	var fault *capcli.InputError
	if !errors.As(err, &fault) || fault.File == "" || fault.Text == "" {
		t.Errorf("not an input error: %v", err)
	}
}

func FuzzSWF(f *testing.F)      { fuzz(f, "swf") }
func FuzzSacct(f *testing.F)    { fuzz(f, "sacct") }
func FuzzPhilly(f *testing.F)   { fuzz(f, "philly") }
func FuzzHelios(f *testing.F)   { fuzz(f, "helios") }
func FuzzPAI2020(f *testing.F)  { fuzz(f, "pai2020") }
func FuzzOpenb(f *testing.F)    { fuzz(f, "openb") }
func FuzzGaia(f *testing.F)     { fuzz(f, "gaia") }
func FuzzFleetsim(f *testing.F) { fuzz(f, "fleetsim") }
func FuzzCSV(f *testing.F)      { fuzz(f, "csv") }
func FuzzJSONL(f *testing.F)    { fuzz(f, "jsonl") }

// FuzzOpen leaves packing and format to be found out.
func FuzzOpen(f *testing.F) {
	for _, format := range Formats.Names() {
		for _, data := range samples(f, format) {
			f.Add(data)
			f.Add(gzipped(f, data))
			f.Add(zstded(f, data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(Input{Name: "fuzz", R: bytes.NewReader(data)}, Options{AllowCut: true})
		if err != nil {
			inputFault(t, err)
			return
		}
		for job, err := range r.Jobs() {
			if err != nil {
				inputFault(t, err)
				continue
			}
			sound(t, &job)
		}
	})
}
