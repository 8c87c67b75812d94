package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

func init() {
	Forms.Add("openmetrics", "every figure as a gauge, for Prometheus and the like (OpenMetrics 1.0 text)", writeOpenMetrics)
}

// mostMetricRows is the largest number of rows that become metrics: a time series for each cell.
const mostMetricRows = 100_000

// family is the samples of one metric.
type family struct {
	name, unit, help string
	samples          []string
}

// metrics are families in the order in which they come first.
type metrics struct {
	families []*family
	by       map[string]*family
}

// writeOpenMetrics writes each column of figures as a metric in the text format of OpenMetrics 1.0
// (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md). The columns of text are
// its labels. A row of a table of figures is a metric with the name of the figure. A figure that is not
// known has no sample.
func writeOpenMetrics(w io.Writer, d Doc, o Options) error {
	tables, err := d.chosen(o)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return &capcli.UnknownError{Text: "this result has no table of figures; use -o json"}
	}
	m := metrics{by: map[string]*family{}}
	for i := range tables {
		if err := m.addTable(&tables[i]); err != nil {
			return err
		}
	}
	if len(m.families) == 0 {
		return &capcli.UnknownError{Text: "this result has no figures; use -o json"}
	}
	var b bytes.Buffer
	for _, f := range m.families {
		fmt.Fprintf(&b, "# TYPE %s gauge\n", f.name)
		if f.unit != "" {
			fmt.Fprintf(&b, "# UNIT %s %s\n", f.name, f.unit)
		}
		fmt.Fprintf(&b, "# HELP %s %s\n", f.name, escapeMetric(strings.ReplaceAll(f.help, `"`, "'"))) // older readers know no \" in help
		for _, s := range f.samples {
			b.WriteString(s)
		}
	}
	b.WriteString("# EOF\n")
	_, err = b.WriteTo(w)
	return err
}

func (m *metrics) addTable(t *Table) error {
	cut, err := t.figures()
	if err != nil {
		return err
	}
	if t.Each != nil {
		for row := range t.Each {
			if cut.Rows = append(cut.Rows, slices.Clone(row)); len(cut.Rows) > mostMetricRows {
				break
			}
		}
	}
	if len(cut.Rows) > mostMetricRows {
		return &capcli.UnknownError{Text: fmt.Sprintf("table %s has over %s rows, too many for metrics; use -o csv", t.Name, capcli.Grouped(mostMetricRows))}
	}
	alike := cut.alikeRows()
	for n, row := range cut.Rows {
		if err := m.addRow(&cut, row, n+1, alike); err != nil {
			return fmt.Errorf("table %q, row %d: %w", t.Name, n+1, err)
		}
	}
	return nil
}

// alikeRows reports whether two rows have the same labels, so that a label must number the rows.
func (t *Table) alikeRows() bool {
	seen := map[string]bool{}
	for _, row := range t.Rows {
		figure, labels := t.labels(row)
		key := figure.Name + "\x00" + strings.Join(labels, "\x00")
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// labels returns the labels of a row, each as name="value", and the figure that the row is of; a Label
// without a name where its columns are the figures.
func (t *Table) labels(row []any) (figure Label, labels []string) {
	taken := map[string]bool{"row": true}
	for i, cell := range row {
		if l, ok := cell.(Label); ok && i == 0 {
			figure = l
			continue
		}
		text, is := labelText(cell)
		if !is || text == "" {
			continue
		}
		name := metricWord(t.Columns[i].Name)
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		labels = append(labels, name+`="`+escapeMetric(text)+`"`)
	}
	return figure, labels
}

// labelText returns the text of a cell that is no figure.
func labelText(cell any) (string, bool) {
	switch v := plainValue(cell).(type) {
	case string:
		return Strip(v), true
	case bool:
		return fmt.Sprint(v), true
	case capcli.Time:
		return v.String(), true
	}
	return "", false
}

// addRow adds the samples of a row. number is its place in the table, which is a label where alike is true.
func (m *metrics) addRow(t *Table, row []any, number int, alike bool) error {
	figure, labels := t.labels(row)
	if alike {
		labels = append(labels, fmt.Sprintf(`row="%d"`, number))
	}
	set := ""
	if len(labels) > 0 {
		set = "{" + strings.Join(labels, ",") + "}"
	}
	for i, cell := range row {
		if _, is := labelText(cell); is {
			continue
		}
		column, help := t.Columns[i].Name, t.Columns[i].Head
		if figure.Name != "" {
			if column == "value" {
				column, help = figure.Name, figure.Head
			} else {
				column, help = figure.Name+"_"+column, figure.Head+", "+help
			}
		}
		if help == "" {
			help = column
		}
		_, three := rangeOf(cell)
		for j, part := range parts(cell, three) {
			text, err := exact(part)
			if err != nil {
				return err
			}
			if text == "" {
				continue
			}
			f, times := m.family(t, column, [...]string{"", "_lo", "_hi"}[j], part, help)
			if text, err = metricValue(part, text, times); err != nil {
				return err
			}
			f.samples = append(f.samples, f.name+set+" "+text+"\n")
		}
	}
	return nil
}

// family returns the metric of a column of t, capcli_TABLE_COLUMN_UNIT, and how many of its unit one of the
// column is.
func (m *metrics) family(t *Table, column, suffix string, cell any, help string) (*family, float64) {
	base, unit, times := metricUnit(metricWord(column), cell)
	name := "capcli_" + metricWord(t.Name)
	if base != "" {
		name += "_" + base
	}
	name += suffix
	if unit != "" {
		name += "_" + unit
	}
	for _, end := range []string{"_total", "_count", "_sum", "_bucket", "_created", "_info"} {
		if strings.HasSuffix(name, end) {
			name += "_value" // OpenMetrics keeps these endings for other types
		}
	}
	if f := m.by[name]; f != nil {
		return f, times
	}
	if t.Title != "" {
		help = t.Title + ": " + help
	}
	f := &family{name: name, unit: unit, help: Strip(help)}
	m.by[name] = f
	m.families = append(m.families, f)
	return f, times
}

// metricUnits are the endings of our names that are units, the base unit that OpenMetrics wants, and how
// many of it one is.
var metricUnits = []struct {
	ending, unit string
	times        float64
}{
	{"_gpu_hours", "gpu_seconds", 3600},
	{"_gpu_h", "gpu_seconds", 3600},
	{"_s", "seconds", 1},
	{"_seconds", "seconds", 1},
	{"_usd", "usd", 1},
	{"_kwh", "joules", 3.6e6},
	{"_kg", "grams", 1000},
	{"_percent", "percent", 1},
	{"_gpus", "gpus", 1},
}

// metricUnit splits the unit off the name of a column, and returns how many of it one of the column is. A
// share is a ratio, whatever its name.
func metricUnit(name string, cell any) (base, unit string, times float64) {
	for _, u := range metricUnits {
		if rest, ok := strings.CutSuffix("_"+name, u.ending); ok {
			return strings.TrimPrefix(rest, "_"), u.unit, u.times
		}
	}
	switch plainValue(cell).(type) {
	case Percent:
		return strings.TrimSuffix(name, "_ratio"), "ratio", 1
	case capcli.Seconds, MeanTime, ShortTime:
		return name, "seconds", 1
	case Micros:
		return name, "seconds", 1e-6
	case capcli.USD:
		return name, "usd", 1
	case capcli.GPUTime:
		return name, "gpu_seconds", 3600
	}
	return name, "", 1
}

// metricValue returns a figure in the base unit.
func metricValue(cell any, text string, times float64) (string, error) {
	if times == 1 {
		return text, nil
	}
	if t, ok := plainValue(cell).(capcli.GPUTime); ok {
		return exactFloat(float64(t) / float64(capcli.GPUSecond))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", err
	}
	return exactFloat(v * times)
}

// metricWord returns name in the characters that the name of a metric or a label may have.
func metricWord(name string) string {
	word := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, name)
	parts := strings.Split(strings.Trim(word, "_"), "_")
	for i, p := range parts {
		switch p { // types of metrics, which no name should have
		case "summary":
			parts[i] = "overview"
		case "histogram":
			parts[i] = "distribution"
		case "gauge", "counter":
			parts[i] = p + "s"
		}
	}
	word = strings.Join(parts, "_")
	if word == "" || word[0] >= '0' && word[0] <= '9' {
		word = "x" + word
	}
	return word
}

// escapeMetric escapes a text for a label or a help line.
func escapeMetric(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(s)
}
