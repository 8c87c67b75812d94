package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"capcli"
)

// ErrEligible is the error of a job with an eligible time in a file without that column.
var ErrEligible = errors.New("a job has an eligible time, and the file has no column for it")

// ErrGPUMem is the error of a job with GPU memory in a file without that column.
var ErrGPUMem = errors.New("a job has memory of its GPUs, and the file has no column for it")

// WriteCSV writes jobs as CSV with the header Columns, without eligible, gpu_mem_gb, after, workflow and stage unless x has them, and with a column for each tag of x. Times are whole seconds since 1970,
// unknown values are empty, and gpus under 1 are a share of one GPU. The csv format reads the
// output back to the same jobs. WriteCSV fails with the first error from jobs or w, for a job that
// holds shares of several GPUs, and with the errors of Extra.Check; jobs before an error in jobs are written.
func WriteCSV(w io.Writer, jobs capcli.Jobs, x Extra) error {
	var columns []int
	var names []string
	for col, name := range Columns {
		if col < colEligible || x.Has(name) {
			columns, names = append(columns, col), append(names, name)
		}
	}
	head := []byte(strings.Join(names, ","))
	for _, tag := range x.Tags {
		head = appendCell(append(head, ','), TagColumn(tag))
	}
	return writeJobs(w, string(head)+"\n", x.checked(jobs), func(b []byte, j *capcli.Job) []byte {
		b = appendCSV(b, j, columns)
		for _, tag := range x.Tags {
			b = appendCell(append(b, ','), j.Tags.Value(tag))
		}
		return append(b, '\n')
	})
}

// ErrStages is the error of a job with a place in a workflow in a file without columns for it.
var ErrStages = errors.New("a job is of a workflow, and the file has no columns for it")

// checked yields jobs up to the first that the file cannot hold, and then the error of Check.
func (x *Extra) checked(jobs capcli.Jobs) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for job, err := range jobs {
			if err == nil {
				err = x.Check(&job)
			}
			if !yield(job, err) || err != nil {
				return
			}
		}
	}
}

// WriteJSONL writes each job as one JSON object on a line, with Columns as keys. It omits
// unknown values. The jsonl format reads the output back to the same jobs. WriteJSONL fails as
// WriteCSV does.
func WriteJSONL(w io.Writer, jobs capcli.Jobs) error { return writeJobs(w, "", jobs, appendJSON) }

func writeJobs(w io.Writer, head string, jobs capcli.Jobs, appendJob func(b []byte, j *capcli.Job) []byte) error {
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(head) // out returns an error again at the next write
	var buf []byte
	for job, err := range jobs {
		if err == nil {
			err = checkWritable(&job)
		}
		if err != nil {
			return flushAfter(out, err)
		}
		buf = appendJob(buf[:0], &job)
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

// flushAfter flushes the jobs before err and returns the error of that, else err.
func flushAfter(out *bufio.Writer, err error) error {
	if failed := out.Flush(); failed != nil {
		return failed
	}
	return err
}

// checkWritable returns an error for the one kind of job that our columns cannot express: a
// share of each of several GPUs.
func checkWritable(job *capcli.Job) error {
	if job.GPUMilli > 0 && job.GPUMilli != 1000 && job.GPUs != 1 {
		return fmt.Errorf("writing job %q: it has shares of %d GPUs, and gpus can only say a share of one", job.ID, job.GPUs)
	}
	return nil
}

func appendCSV(b []byte, j *capcli.Job, columns []int) []byte {
	for i, col := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		if text := textOf(j, col); text != nil {
			b = appendCell(b, *text)
		} else {
			b = appendNumber(b, j, col)
		}
	}
	return b
}

func appendJSON(b []byte, j *capcli.Job) []byte {
	b = append(b, '{')
	for col := range numColumns {
		before := len(b)
		if before > 0 && b[before-1] != '{' {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), Columns[col]...), '"', ':')
		empty := len(b)
		if text := textOf(j, col); text == nil {
			b = appendNumber(b, j, col)
		} else if *text != "" {
			b = appendString(b, *text)
		}
		if len(b) == empty {
			b = b[:before]
		}
	}
	for _, t := range j.Tags.All() {
		b = appendString(append(b, ','), TagColumn(t.Name))
		b = appendString(append(b, ':'), t.Value)
	}
	return append(b, '}', '\n')
}

// textOf returns the text of a job in one of our columns, or nil where the column is a number.
func textOf(j *capcli.Job, col int) *string {
	switch col {
	case colID:
		return &j.ID
	case colTenant:
		return &j.Tenant
	case colPartition:
		return &j.Partition
	case colModel:
		return &j.GPUModel
	case colClass:
		return &j.Class
	case colState:
		return &j.State
	case colAfter, colWorkflow, colStage:
		return stageText(j, col)
	}
	return nil
}

// stageText is textOf for the place of a job in a workflow.
func stageText(j *capcli.Job, col int) *string {
	text := ""
	switch {
	case j.Stage == nil:
	case col == colAfter:
		text = FormatDependencies(j.Stage)
	case col == colWorkflow:
		text = j.Stage.Workflow
	default:
		text = j.Stage.Name
	}
	return &text
}

// appendNumber appends the number in one of our columns, or nothing where it is unknown.
func appendNumber(b []byte, j *capcli.Job, col int) []byte {
	switch col {
	case colGPUs:
		return appendGPUs(b, j)
	case colCPUs:
		return appendDecimal(b, j.CPUMilli, 1000)
	case colMem:
		return appendDecimal(b, j.MemMiB, 1024)
	case colSubmit:
		return appendTime(b, j.Submit)
	case colStart:
		return appendTime(b, j.Start)
	case colEnd:
		return appendTime(b, j.End)
	case colRun:
		return strconv.AppendInt(b, int64(j.Run), 10)
	case colLimit:
		return appendDecimal(b, int64(j.Limit), 1)
	case colPriority:
		return strconv.AppendInt(b, int64(j.Priority), 10)
	case colDeadline:
		return appendTime(b, j.Deadline)
	case colGPUMem:
		return appendDecimal(b, j.GPUMemMiB, 1024)
	case colEligible:
		if j.Eligible > j.Submit {
			return appendTime(b, j.Eligible)
		}
	}
	return b
}

// appendCell appends text as a CSV cell. It quotes text as RFC 4180 requires, and also text
// with another separator or a #.
func appendCell(b []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\n\r\t;|#") {
		return append(b, text...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(text, `"`, `""`)...)
	return append(b, '"')
}

func appendGPUs(b []byte, j *capcli.Job) []byte {
	if j.GPUMilli > 0 && j.GPUMilli != 1000 {
		return appendFraction(b, int64(j.GPUMilli), 1000)
	}
	return strconv.AppendInt(b, int64(j.GPUs), 10)
}

// appendDecimal appends n/unit, or nothing where n is 0, which means unknown.
func appendDecimal(b []byte, n, unit int64) []byte {
	if n <= 0 {
		return b
	}
	return appendFraction(b, n, unit)
}

// appendFraction appends n/unit exactly. A unit is 1, 1000 or 1024, so at most ten decimals
// are needed.
func appendFraction(b []byte, n, unit int64) []byte {
	b = strconv.AppendInt(b, n/unit, 10)
	rest := n % unit
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for rest > 0 {
		rest *= 10
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

func appendTime(b []byte, t capcli.Time) []byte {
	if !t.IsKnown() {
		return b
	}
	return strconv.AppendInt(b, int64(t), 10)
}

// appendString appends text as a JSON string. Bytes that are not UTF-8 become the replacement
// character.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}
