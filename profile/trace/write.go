package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"capcli"
)

// WriteCSV writes jobs under our Columns. Instants are whole seconds, unknown
// values are empty, gpus below one are a share of one GPU. What it writes the
// csv format reads back to the same jobs. An error from jobs ends it and is
// given back; what was written before it stays.
func WriteCSV(w io.Writer, jobs capcli.Jobs) error {
	out := bufio.NewWriterSize(w, 64<<10)
	buf := append([]byte(strings.Join(Columns, ",")), '\n')
	if _, err := out.Write(buf); err != nil {
		return err
	}
	for job, err := range jobs {
		if err != nil {
			return flushAfter(out, err)
		}
		if err := checkWritable(&job); err != nil {
			return flushAfter(out, err)
		}
		if _, err := out.Write(appendCSV(buf[:0], &job)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// flushAfter passes on what was written before err.
func flushAfter(out *bufio.Writer, err error) error {
	if failed := out.Flush(); failed != nil {
		return failed
	}
	return err
}

// checkWritable refuses the one kind of job that our columns cannot say.
func checkWritable(job *capcli.Job) error {
	if job.GPUMilli > 0 && job.GPUMilli != 1000 && job.GPUs != 1 {
		return fmt.Errorf("writing job %q: it has shares of %d GPUs, and gpus can only say a share of one", job.ID, job.GPUs)
	}
	return nil
}

func appendCSV(b []byte, j *capcli.Job) []byte {
	for _, text := range []string{j.ID, j.Tenant, j.Partition, j.GPUModel} {
		b = append(appendCell(b, text), ',')
	}
	b = append(appendGPUs(b, j), ',')
	b = append(appendDecimal(b, j.CPUMilli, 1000), ',')
	b = append(appendDecimal(b, j.MemMiB, 1024), ',')
	b = append(appendCell(b, j.Class), ',')
	b = append(appendTime(b, j.Submit), ',')
	b = append(appendTime(b, j.Start), ',')
	b = append(appendTime(b, j.End), ',')
	b = append(strconv.AppendInt(b, int64(j.Run), 10), ',')
	if j.Limit > 0 {
		b = strconv.AppendInt(b, int64(j.Limit), 10)
	}
	b = append(b, ',')
	b = append(strconv.AppendInt(b, int64(j.Priority), 10), ',')
	b = append(appendTime(b, j.Deadline), ',')
	return append(appendCell(b, j.State), '\n')
}

// appendCell quotes text where RFC 4180 wants it.
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

// appendDecimal writes n/unit; 0 is unknown and empty.
func appendDecimal(b []byte, n, unit int64) []byte {
	if n <= 0 {
		return b
	}
	return appendFraction(b, n, unit)
}

// appendFraction writes n/unit exactly; unit is 1000 or 1024, so that ten
// decimals are enough.
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

// WriteJSONL writes jobs as one JSON object a line, with our Columns as keys;
// an unknown value is left out. The jsonl format reads it back to the same
// jobs. Errors are as in WriteCSV.
func WriteJSONL(w io.Writer, jobs capcli.Jobs) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var buf []byte
	for job, err := range jobs {
		if err != nil {
			return flushAfter(out, err)
		}
		if err := checkWritable(&job); err != nil {
			return flushAfter(out, err)
		}
		buf = appendJSON(buf[:0], &job)
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Flush()
}

func appendJSON(b []byte, j *capcli.Job) []byte {
	b = append(b, '{')
	b = appendText(b, colID, j.ID)
	b = appendText(b, colTenant, j.Tenant)
	b = appendText(b, colPartition, j.Partition)
	b = appendText(b, colModel, j.GPUModel)
	b = appendGPUs(appendKey(b, colGPUs), j)
	if j.CPUMilli > 0 {
		b = appendFraction(appendKey(b, colCPUs), j.CPUMilli, 1000)
	}
	if j.MemMiB > 0 {
		b = appendFraction(appendKey(b, colMem), j.MemMiB, 1024)
	}
	b = appendText(b, colClass, j.Class)
	for _, at := range [...]struct {
		col  int
		time capcli.Time
	}{{colSubmit, j.Submit}, {colStart, j.Start}, {colEnd, j.End}} {
		if at.time.IsKnown() {
			b = appendTime(appendKey(b, at.col), at.time)
		}
	}
	b = strconv.AppendInt(appendKey(b, colRun), int64(j.Run), 10)
	if j.Limit > 0 {
		b = strconv.AppendInt(appendKey(b, colLimit), int64(j.Limit), 10)
	}
	b = strconv.AppendInt(appendKey(b, colPriority), int64(j.Priority), 10)
	if j.Deadline.IsKnown() {
		b = appendTime(appendKey(b, colDeadline), j.Deadline)
	}
	b = appendText(b, colState, j.State)
	return append(b, '}', '\n')
}

func appendKey(b []byte, col int) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, Columns[col]...)
	return append(b, '"', ':')
}

func appendText(b []byte, col int, text string) []byte {
	if text == "" {
		return b
	}
	return appendString(appendKey(b, col), text)
}

// appendString writes text as a JSON string; bytes that are no UTF-8 become
// the replacement character.
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
