package interop

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/xitongsys/parquet-go-source/buffer"
	"github.com/xitongsys/parquet-go/parquet"
	"github.com/xitongsys/parquet-go/reader"
	"github.com/xitongsys/parquet-go/writer"

	"capcli"
	ours "capcli/profile/logs/parquet"
	"capcli/profile/logs/trace"
)

// tally is what a column comes to: enough to notice a value lost, moved to
// null or read as another.
type tally struct {
	rows, nulls int
	sum         float64 // of numbers
	weighted    float64 // of numbers times their row, so that order counts
	bytes       int     // of texts
	letters     int     // of texts: bytes times their row
}

func (t *tally) add(v any) {
	t.rows++
	row := float64(t.rows)
	number := func(f float64) { t.sum += f; t.weighted += f * row }
	switch v := v.(type) {
	case nil:
		t.nulls++
	case int32:
		number(float64(v))
	case int64:
		number(float64(v))
	case float32:
		number(float64(v))
	case float64:
		number(v)
	case string:
		t.bytes += len(v)
		for _, b := range []byte(v) {
			t.letters += int(b) * (t.rows % 97)
		}
	default:
		panic(fmt.Sprintf("value of type %T", v))
	}
}

// theirs reads every column of a file with xitongsys/parquet-go.
func theirs(t *testing.T, file []byte) map[string]tally {
	t.Helper()
	in, err := buffer.NewBufferFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.NewParquetColumnReader(in, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.ReadStop()
	out := map[string]tally{}
	n := r.GetNumRows()
	for i, path := range r.SchemaHandler.ValueColumns {
		values, _, _, err := r.ReadColumnByIndex(int64(i), n)
		if err != nil {
			t.Fatalf("column %s: %v", path, err)
		}
		var sum tally
		for _, v := range values {
			sum.add(v)
		}
		out[r.Footer.Schema[i+1].Name] = sum
		out[r.SchemaHandler.Infos[i+1].ExName] = sum
	}
	return out
}

// interopTags are the tags of each fifth job.
var interopTags = capcli.NewTags(capcli.Tag{Name: "project", Value: "search"}, capcli.Tag{Name: "cost center", Value: "R42"})

func someJobs(n int) []capcli.Job {
	rng := capcli.Seed(3).Stream("interop")
	jobs := make([]capcli.Job, n)
	for i := range jobs {
		at := capcli.Time(1_700_000_000 + 60*i)
		j := capcli.Job{
			ID: fmt.Sprintf("j%d", i), Tenant: fmt.Sprintf("team%d", i%7), GPUs: i % 9,
			Submit: at, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Eligible: capcli.NoTime,
			Run: capcli.Seconds(rng.IntN(100_000)), Priority: i%5 - 2, State: "COMPLETED",
		}
		if i%3 == 0 {
			j.Partition, j.GPUModel, j.Class = "vc1", "A100", "training"
			j.CPUMilli, j.MemMiB = rng.Int64N(1_000_000), rng.Int64N(1<<22)
			j.Start = at + 60
			j.End = j.Start + capcli.Time(j.Run)
		}
		if i%4 == 0 {
			j.GPUs, j.GPUMilli, j.Limit, j.Deadline = 1, 250, 3600, at+7200
		}
		if i%5 == 0 {
			j.Tags = interopTags
		}
		jobs[i] = j
	}
	return jobs
}

// cells are what a job's columns must hold, told apart from the writer.
func cells(j capcli.Job) map[string]any {
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	at := func(t capcli.Time) any {
		if !t.IsKnown() {
			return nil
		}
		return int64(t) * 1_000_000
	}
	c := map[string]any{
		"job_id": j.ID, "tenant": text(j.Tenant), "partition": text(j.Partition), "gpu_model": text(j.GPUModel),
		"class": text(j.Class), "state": text(j.State), "gpus": int32(j.GPUs), "gpu_milli": nil, "cpus": nil, "mem_gb": nil,
		"submit": at(j.Submit), "start": at(j.Start), "end": at(j.End), "deadline": at(j.Deadline),
		"run_s": int64(j.Run), "limit_s": nil, "priority": int32(j.Priority),
		"tag_project": text(j.Tags.Value("project")), "tag_cost center": text(j.Tags.Value("cost center")),
	}
	if j.GPUMilli > 0 {
		c["gpu_milli"] = int32(j.GPUMilli)
	}
	if j.CPUMilli > 0 {
		c["cpus"] = float64(j.CPUMilli) / 1000
	}
	if j.MemMiB > 0 {
		c["mem_gb"] = float64(j.MemMiB) / 1024
	}
	if j.Limit > 0 {
		c["limit_s"] = int64(j.Limit)
	}
	return c
}

func compare(t *testing.T, got, want map[string]tally) {
	t.Helper()
	for name, w := range want {
		if g, ok := got[name]; !ok || g != w {
			t.Errorf("column %q: got %+v, want %+v", name, g, w)
		}
	}
}

// TestTheyReadJobs covers one row, several pages and several row groups.
func TestTheyReadJobs(t *testing.T) {
	for _, n := range []int{1, 5000, 140_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var file bytes.Buffer
			w, err := ours.NewJobWriter(&file, map[string]string{"origin": "interop"}, trace.Extra{Eligible: true, Tags: []string{"cost center", "project"}})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]tally{}
			for _, j := range someJobs(n) {
				if err := w.Write(j); err != nil {
					t.Fatal(err)
				}
				for name, v := range cells(j) {
					sum := want[name]
					sum.add(v)
					want[name] = sum
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			compare(t, theirs(t, file.Bytes()), want)
		})
	}
}

// TestTheyReadTables covers every kind of column, nullable and not.
func TestTheyReadTables(t *testing.T) {
	var columns []ours.Column
	for kind, name := range []string{"text", "int32", "int64", "float32", "float64", "instant"} {
		columns = append(columns, ours.Column{Name: name, Kind: ours.Kind(kind)},
			ours.Column{Name: name + "_null", Kind: ours.Kind(kind), Nullable: true})
	}
	columns = append(columns, ours.Column{Name: "words", Kind: ours.Text, Repeats: true},
		ours.Column{Name: "words_null", Kind: ours.Text, Repeats: true, Nullable: true})
	var file bytes.Buffer
	w, err := ours.NewTable(&file, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]tally{}
	for row := range 3000 {
		for i, c := range columns {
			sum := want[c.Name]
			if c.Nullable && row%3 == 1 {
				w.Null(i)
				sum.add(nil)
			} else {
				sum.add(put(w, i, c, row))
			}
			want[c.Name] = sum
		}
		if err := w.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	compare(t, theirs(t, file.Bytes()), want)
}

// put sets a cell and gives the value that must be found there.
func put(w *ours.Table, i int, c ours.Column, row int) any {
	switch c.Kind {
	case ours.Text:
		s := fmt.Sprint("text ", row)
		if c.Repeats {
			s = fmt.Sprint("word ", row%13)
		}
		w.Text(i, s)
		return s
	case ours.Int32:
		w.Int(i, int64(row-1500))
		return int32(row - 1500)
	case ours.Int64:
		w.Int(i, int64(row)<<20)
		return int64(row) << 20
	case ours.Float32:
		w.Float(i, float64(row)/8)
		return float32(row) / 8
	case ours.Float64:
		w.Float(i, float64(row)/7)
		return float64(row) / 7
	}
	w.Time(i, capcli.Time(row))
	return int64(row) * 1_000_000
}

// theirJob is a job as a program built on xitongsys/parquet-go writes it.
type theirJob struct {
	ID     string   `parquet:"name=job_id, type=BYTE_ARRAY, convertedtype=UTF8"`
	Tenant *string  `parquet:"name=tenant, type=BYTE_ARRAY, convertedtype=UTF8, encoding=PLAIN_DICTIONARY"`
	GPUs   int32    `parquet:"name=gpus, type=INT32"`
	Mem    *float64 `parquet:"name=mem_gb, type=DOUBLE"`
	Submit int64    `parquet:"name=submit, type=INT64, convertedtype=TIMESTAMP_MILLIS"`
	Start  *int64   `parquet:"name=start, type=INT64, convertedtype=TIMESTAMP_MICROS"`
	End    *int64   `parquet:"name=end, type=INT64, logicaltype=TIMESTAMP, logicaltype.isadjustedtoutc=true, logicaltype.unit=NANOS"`
	Run    int64    `parquet:"name=run_s, type=INT64, encoding=DELTA_BINARY_PACKED"`
	State  string   `parquet:"name=state, type=BYTE_ARRAY, convertedtype=UTF8, encoding=DELTA_BYTE_ARRAY"`
}

func TestWeReadTheirs(t *testing.T) {
	codecs := []parquet.CompressionCodec{
		parquet.CompressionCodec_UNCOMPRESSED, parquet.CompressionCodec_SNAPPY, parquet.CompressionCodec_GZIP,
		parquet.CompressionCodec_ZSTD, // under LZ4_RAW it writes empty pages that it cannot read either
	}
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			want := theirKind(someJobs(5000))
			file := theirFile(t, want, codec)
			r, err := trace.Open(trace.Input{Name: "theirs", At: bytes.NewReader(file), Size: int64(len(file))}, trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for got, err := range r.Jobs() {
				if err != nil {
					t.Fatal(err)
				}
				if got != want[n] {
					t.Fatalf("job %d:\n got %+v\nwant %+v", n, got, want[n])
				}
				n++
			}
			if n != len(want) {
				t.Errorf("%d jobs, want %d", n, len(want))
			}
		})
	}
}

// theirKind leaves of jobs what theirJob has.
func theirKind(jobs []capcli.Job) []capcli.Job {
	for i := range jobs {
		j := &jobs[i]
		*j = capcli.Job{
			ID: j.ID, Tenant: j.Tenant, GPUs: j.GPUs, MemMiB: j.MemMiB, Submit: j.Submit, Start: j.Start, End: j.End,
			Run: j.Run, State: j.State, Deadline: capcli.NoTime, Eligible: capcli.NoTime,
		}
		if i%6 == 0 {
			j.Tenant = ""
		}
	}
	return jobs
}

func theirFile(t *testing.T, jobs []capcli.Job, codec parquet.CompressionCodec) []byte {
	t.Helper()
	out, err := buffer.NewBufferFile(nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := writer.NewParquetWriter(out, new(theirJob), 1)
	if err != nil {
		t.Fatal(err)
	}
	w.CompressionType = codec
	for _, j := range jobs {
		row := theirJob{ID: j.ID, GPUs: int32(j.GPUs), Submit: int64(j.Submit) * 1000, Run: int64(j.Run), State: j.State}
		if j.Tenant != "" {
			row.Tenant = &j.Tenant
		}
		if j.MemMiB > 0 {
			mem := float64(j.MemMiB) / 1024
			row.Mem = &mem
		}
		if j.Start.IsKnown() {
			start, end := int64(j.Start)*1_000_000, int64(j.End)*1_000_000_000
			row.Start, row.End = &start, &end
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteStop(); err != nil {
		t.Fatal(err)
	}
	return out.(buffer.BufferFile).Bytes()
}
