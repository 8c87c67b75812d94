package parquet

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
)

func init() {
	trace.Formats.Add("parquet", "capcli's own columns as Parquet, from capcli, DuckDB, pandas or Spark; --map reads other names", trace.Format{
		Sniff:  IsParquet,
		Read:   readJobs,
		Binary: true,
		Mapped: true,
		Tagged: true,
	})
}

// Indexes of the columns in wants.
const (
	colID = iota
	colTenant
	colPartition
	colModel
	colGPUs
	colMilli
	colCPUs
	colMem
	colClass
	colSubmit
	colStart
	colEnd
	colDeadline
	colRun
	colLimit
	colPriority
	colState
	colEligible // these are last, so that a file without them has the same columns as before
	colGPUMem
	colAfter
	colWorkflow
	colStage
	numColumns
)

// wants are the columns of a job file, in the order they are written. The scale gives the unit in
// which a Job holds a number.
var wants = [numColumns]want{
	{name: "job_id", what: texts},
	{name: "tenant", what: texts},
	{name: "partition", what: texts},
	{name: "gpu_model", what: texts},
	{name: "gpus", scale: 1000},
	{name: "gpu_milli", scale: 1},
	{name: "cpus", scale: 1000},
	{name: "mem_gb", scale: 1024},
	{name: "class", what: texts},
	{name: "submit", scale: 1, time: true},
	{name: "start", scale: 1, time: true},
	{name: "end", scale: 1, time: true},
	{name: "deadline", scale: 1, time: true},
	{name: "run_s", scale: 1},
	{name: "limit_s", scale: 1},
	{name: "priority", scale: 1},
	{name: "state", what: texts},
	{name: "eligible", scale: 1, time: true},
	{name: "gpu_mem_gb", scale: 1024},
	{name: "after", what: texts},
	{name: "workflow", what: texts},
	{name: "stage", what: texts},
}

func readJobs(r *trace.Reader) (err error) {
	defer func() { err = capcli.NameFile(err, r.Input().Name) }()
	at, size, err := holdBody(r.Input(), r.Body(), "check the copy, or unpack it and give the plain file")
	if err != nil {
		return err
	}
	f, err := open(at, size)
	if err != nil {
		return err
	}
	j := jobs{r: r, f: f, rejects: r.Options().Rejects != nil}
	if err := j.open(); err != nil {
		return err
	}
	if j.readsAsText() {
		return j.asCSV()
	}
	return j.run()
}

// jobs is one pass over the rows of a file.
type jobs struct {
	r       *trace.Reader
	f       *file
	fields  [numColumns]field
	tags    *trace.Tagger  // nil where the rows have no tags
	columns map[int]*field // columns of tags, by their index in the file
	read    []*field       // the same, in order of index
	row     int64          // rows read so far
	rejects bool           // the caller wants the text of rejected rows
	line    []byte
}

// open finds the wanted columns, under the names that --map gives them. It fails where a mapped
// column or one that every job needs is missing.
func (j *jobs) open() error {
	used := map[string]bool{}
	names := j.r.Options().Map
	for i := range wants {
		j.fields[i].want = wants[i]
		theirs, mapped := names[wants[i].name]
		if !mapped {
			theirs = wants[i].name
		}
		l, ok := j.f.column(theirs)
		if !ok {
			if mapped {
				return refused("correct --map", "there is no column %q, to which %s is mapped; there are %s", theirs, wants[i].name, j.columnNames())
			}
			continue
		}
		if err := j.fields[i].open(j.f, l); err != nil {
			return err
		}
		used[theirs] = true
		j.fields[i].told = j.r.Options().Unit
	}
	if err := checkMap(names); err != nil {
		return err
	}
	if err := j.openTags(used); err != nil {
		return err
	}
	var unknown []string
	for _, l := range j.f.columns {
		if !used[l.name] {
			unknown = append(unknown, l.name)
		}
	}
	if unknown != nil {
		j.r.Note("columns not read: " + strings.Join(unknown, ", "))
	}
	return j.checkColumns()
}

// openTags finds the columns of tags and marks them in used.
func (j *jobs) openTags(used map[string]bool) (err error) {
	names := make([]string, len(j.f.columns))
	for i, l := range j.f.columns {
		names[i] = l.name
	}
	var places []int
	if j.tags, err = j.r.Tagger(names, func(i int) { places = append(places, i) }); err != nil {
		return err
	}
	slices.Sort(places)
	j.columns = map[int]*field{}
	for _, i := range slices.Compact(places) {
		d := &field{want: want{name: names[i], what: texts}}
		if err := d.open(j.f, j.f.columns[i]); err != nil {
			return err
		}
		used[names[i]], j.columns[i] = true, d
		j.read = append(j.read, d)
	}
	return nil
}

func checkMap(names map[string]string) error {
	ours := capcli.Map(wants[:], func(w want) string { return w.name })
	wrong := slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool { return slices.Contains(ours, name) })
	if len(wrong) == 0 {
		return nil
	}
	return refused("our columns are "+strings.Join(ours, ", "), "--map names no column of ours: %s", strings.Join(wrong, ", "))
}

func (j *jobs) columnNames() string {
	return strings.Join(capcli.Map(j.f.columns[:min(len(j.f.columns), 40)], func(l leaf) string { return l.name }), ", ")
}

// checkColumns returns an error where the file lacks a column that every job needs.
func (j *jobs) checkColumns() error {
	has := func(col int) bool { return j.fields[col].cur != nil }
	var gone []string
	for _, col := range []int{colSubmit, colGPUs} {
		if !has(col) {
			gone = append(gone, wants[col].name)
		}
	}
	if !has(colRun) && (!has(colStart) || !has(colEnd)) {
		gone = append(gone, "run_s (or start and end)")
	}
	if gone != nil {
		return refused("name the columns with --map, such as --map submit=created_at,gpus=num_gpus",
			"the file lacks %s; it has %s", strings.Join(gone, ", "), j.columnNames())
	}
	return nil
}

// readsAsText reports whether the rows must be read as text: a number or an instant is stored as
// text, or an instant has no zone and the user named one.
func (j *jobs) readsAsText() bool {
	tz := j.r.Options().TZ
	for i := range j.fields {
		d := &j.fields[i]
		if d.isWorded() {
			return true
		}
		if d.isLocal() {
			if tz != nil && tz != time.UTC {
				return true
			}
			if tz == nil {
				j.r.Note("the times have no zone and were read as UTC; --tz overrides it")
			}
		}
	}
	return false
}

// nextBatch reads the next batch and returns its number of rows; 0 at the end.
func (j *jobs) nextBatch() (int, error) {
	n := int(min(batch, j.f.meta.NumRows-j.row))
	for i := range j.fields {
		if n == 0 {
			break
		}
		if err := j.fields[i].read(n); err != nil {
			return 0, err
		}
		if j.fields[i].found > 1 {
			j.r.NoteUnit(j.fields[i].found)
		}
	}
	for _, d := range j.read {
		if n > 0 {
			if err := d.read(n); err != nil {
				return 0, err
			}
		}
	}
	j.row += int64(n)
	return n, nil
}

func (j *jobs) run() error {
	for {
		n, err := j.nextBatch()
		if n == 0 || err != nil {
			return err
		}
		for k := range n {
			if !j.keep(k, j.row-int64(n)+int64(k)+1) {
				return nil
			}
		}
	}
}

// keep makes a job from row k of the batch, which is row line of the file, and yields or rejects
// it. It returns false to end the reading.
func (j *jobs) keep(k int, line int64) bool {
	var job capcli.Job
	if reason := j.job(&job, k, line); reason != "" {
		return j.r.Reject(int(line), j.text(k), reason)
	}
	job.Tags = j.tags.Texts(func(i int) string { return j.columns[i].text[k] })
	var row []byte
	if j.rejects {
		row = j.text(k)
	}
	return j.r.Keep(int(line), row, &job)
}

// job fills job from row k. It returns the reason of the rejection, or "".
func (j *jobs) job(job *capcli.Job, k int, line int64) (reason string) {
	f := &j.fields
	for i := range f {
		switch m := f[i].marks[k]; {
		case m < rounded, f[i].what == texts:
		case m == rounded:
			if f[i].time || i == colRun {
				j.r.Assume("fractions of a second: rounded to the nearest")
			}
		default:
			return f[i].name + ": " + m.flaw()
		}
	}
	for _, i := range [...]int{colMilli, colCPUs, colMem, colGPUMem, colLimit} {
		if f[i].num[k] < 0 {
			return f[i].name + ": negative"
		}
	}
	*job = capcli.Job{
		ID: f[colID].text[k], Tenant: f[colTenant].text[k], Partition: f[colPartition].text[k],
		GPUModel: f[colModel].text[k], Class: f[colClass].text[k], State: f[colState].text[k],
		CPUMilli: f[colCPUs].num[k], MemMiB: f[colMem].num[k], GPUMemMiB: f[colGPUMem].num[k],
		Submit: f[colSubmit].instantOf(k), Start: f[colStart].instantOf(k), End: f[colEnd].instantOf(k),
		Deadline: f[colDeadline].instantOf(k), Eligible: f[colEligible].instantOf(k),
		Run: capcli.Seconds(f[colRun].num[k]), Limit: capcli.Seconds(f[colLimit].num[k]),
		Priority: int(f[colPriority].num[k]),
	}
	if after, flow, stage := f[colAfter].text[k], f[colWorkflow].text[k], f[colStage].text[k]; after+flow+stage != "" {
		var err error
		if job.Stage, err = trace.ReadStage(after, flow, stage); err != nil {
			return "after: " + err.Error()
		}
	}
	if job.ID == "" {
		job.ID = strconv.FormatInt(line, 10)
	}
	if f[colRun].marks[k] == empty {
		switch {
		case !job.Start.IsKnown() || !job.End.IsKnown():
			return "run_s: missing, and start and end do not give it"
		case job.End < job.Start:
			return "end before start"
		}
		job.Run = capcli.Seconds(job.End - job.Start)
	}
	return j.gpus(job, k)
}

// gpus sets GPUs and GPUMilli of job from row k: a number of GPUs below one is a share of one
// GPU. It returns the reason of the rejection, or "".
func (j *jobs) gpus(job *capcli.Job, k int) (reason string) {
	gpus, milli := &j.fields[colGPUs], &j.fields[colMilli]
	n := gpus.num[k]
	switch {
	case gpus.marks[k] == empty:
		return "gpus: missing"
	case n < 0:
		return "gpus: negative"
	case n%1000 == 0:
		job.GPUs, job.GPUMilli = int(n/1000), int(milli.num[k])
	case n < 1000:
		job.GPUs, job.GPUMilli = 1, int(n)
	default:
		return "gpus: a fraction above one GPU"
	}
	return ""
}

// text returns row k as a line of CSV for people, in the order of wants. It is valid until the
// next call.
func (j *jobs) text(k int) []byte {
	j.line = j.line[:0]
	for i := range j.fields {
		if i > 0 {
			j.line = append(j.line, ',')
		}
		j.line = j.fields[i].write(j.line, k)
	}
	return j.line
}
