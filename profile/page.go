package profile

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Page is a page of metrics in a text format of Prometheus. Its zero value is an empty page in the text
// format 0.0.4.
type Page struct {
	// Open writes OpenMetrics 1.0 in place of the text format 0.0.4 of Prometheus.
	Open bool

	text   []byte
	name   string // of the samples of the family
	labels int    // labels of the sample that is being written
}

// FamilyKind is the kind of a family of metrics.
type FamilyKind string

// The kinds of families.
const (
	GaugeFamily   FamilyKind = "gauge"
	CounterFamily FamilyKind = "counter" // the names of its samples end in _total
	InfoFamily    FamilyKind = "info"    // the names of its samples end in _info; the values are 1
)

// Family begins a family of metrics. name has its unit at its end, where it has one, but not the _total of a
// counter nor the _info of an information; unit is "" for none.
func (p *Page) Family(name string, kind FamilyKind, unit, help string) {
	p.name = name
	switch kind {
	case CounterFamily:
		p.name += "_total"
	case InfoFamily:
		p.name += "_info"
	default:
	}
	head := p.name // of the family: the text format has no suffixes apart from the name
	if p.Open {
		head = name
	} else if kind == InfoFamily {
		kind = GaugeFamily
	}
	p.text = append(p.text, "# HELP "+head+" "...)
	p.text = append(p.text, p.escape(help, false)...)
	p.text = append(p.text, "\n# TYPE "+head+" "+string(kind)+"\n"...)
	if p.Open && unit != "" {
		p.text = append(p.text, "# UNIT "+head+" "+unit+"\n"...)
	}
}

// Sample writes a sample of the family. labels are names and values in turn; a label whose value is "" is
// left out, since it is the same as none.
func (p *Page) Sample(v float64, labels ...string) {
	p.text = append(p.text, p.name...)
	p.labels = 0
	for i := 0; i+1 < len(labels); i += 2 {
		p.label(labels[i], labels[i+1])
	}
	if p.labels > 0 {
		p.text = append(p.text, '}')
	}
	p.text = append(p.text, ' ')
	p.text = strconv.AppendFloat(p.text, v, 'f', -1, 64)
	p.text = append(p.text, '\n')
}

// mostLabelBytes is the longest value of a label: names of jobs come from outside.
const mostLabelBytes = 128

func (p *Page) label(name, value string) {
	if value == "" {
		return
	}
	sign := byte(',')
	if p.labels == 0 {
		sign = '{'
	}
	p.labels++
	p.text = append(p.text, sign)
	p.text = append(p.text, name+`="`...)
	p.text = append(p.text, p.escape(shortLabel(value), true)...)
	p.text = append(p.text, '"')
}

// shortLabel returns value as UTF-8 of at most mostLabelBytes.
func shortLabel(value string) string {
	value = strings.ToValidUTF8(value, "?")
	if len(value) <= mostLabelBytes {
		return value
	}
	end := mostLabelBytes
	for !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end]
}

var (
	labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

// escape writes text as the format wants it: help texts of the text format 0.0.4 have plain quotes.
func (p *Page) escape(text string, label bool) string {
	if label || p.Open {
		return labelEscapes.Replace(text)
	}
	return helpEscapes.Replace(text)
}

// Bytes ends the page and returns it.
func (p *Page) Bytes() []byte {
	if p.Open {
		p.text = append(p.text, "# EOF\n"...)
	}
	return p.text
}

// exposure says under which name and in which unit a metric stands on a page: the value there is that of the
// metric times mul over div.
type exposure struct {
	name, unit string
	mul, div   float64
}

// baseUnits are the base units of Prometheus by the unit of a metric, with the end of a name that says the
// unit (prometheus.io/docs/practices/naming).
var baseUnits = map[string]struct {
	end, base string
	mul, div  float64
}{
	"%":     {"_pct", "ratio", 1, 100},
	"bytes": {"_bytes", "bytes", 1, 1},
	"W":     {"_w", "watts", 1, 1},
	"J":     {"_j", "joules", 1, 1},
	"°C":    {"_c", "celsius", 1, 1},
	"MHz":   {"_mhz", "hertz", 1e6, 1},
	"MiB/s": {"_mib_s", "bytes_per_second", mib, 1},
	"ms":    {"_ms", "seconds", 1, 1000},
}

// exposed returns how the metric stands on a page, behind a prefix such as "capcli_gpu_".
func (d *Describe) exposed(prefix string) exposure {
	u, known := baseUnits[d.Unit]
	bare, ends := strings.CutSuffix(d.Name, u.end)
	if !known || !ends {
		return exposure{prefix + d.Name, "", 1, 1}
	}
	return exposure{prefix + bare + "_" + u.base, u.base, u.mul, u.div}
}

func (d *Describe) kind() FamilyKind {
	if d.Counter {
		return CounterFamily
	}
	return GaugeFamily
}
