package paper_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"capcli/cmd/report/paper"
)

// This file checks every sentence and every total of a paper against its JSON alone. It parses the
// numbers of a sentence, computes them again from the data beside it, and fails where a sentence has
// a form that it does not know: then its claim is not checked.

// num is a value of the JSON; NaN is null.
type num float64

func (n *num) UnmarshalJSON(b []byte) error {
	*n = num(math.NaN())
	if string(b) == "null" {
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

type series struct {
	Name         string
	X, Y, Lo, Hi []num
	Labels       []string
	Over         bool
	Chosen       []int
}

type picture struct {
	ID, Title, Sentence, Kind string
	X, Y                      struct {
		Unit  string
		Names []string
	}
	Series []series
	Marks  []struct {
		Label, Axis string
		At          num
	}
	Notes []string
}

type grid struct {
	ID, Sentence string
	Columns      []struct {
		Name, Unit string
		Sum        bool
	}
	Rows  [][]any
	Total bool
}

type document struct {
	Answer struct {
		Sentence  string
		Details   []string
		Headlines []struct {
			Name, Text, Unit, About string
			Value                   num
		}
	}
	Figures []picture
	Tables  []grid
	Notes   []string
}

// parsed is a number of a sentence, with half a unit of its last place.
type parsed struct{ value, half float64 }

var (
	moneyText = `-?\$[\d,]+(?:\.\d+)?`
	shareText = `[\d.,e+-]+%`
	waitText  = `(?:\d+ s|[\d.]+ s|\d+ min|\d+m\d\d s|\d+m\d\ds|\d+h\d\dm|\d+d\d\dh)`
	countText = `-?[\d,.]+(?:e[-+]\d+)?`
	dayText   = `\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?`
)

// parse reads a number as it is written for people.
func parse(t *testing.T, text string) parsed {
	t.Helper()
	plain := func(s string) parsed {
		s = strings.ReplaceAll(s, ",", "")
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%q is no number: %v", text, err)
		}
		half := 0.5
		if mantissa, exponent, ok := strings.Cut(s, "e"); ok {
			e, _ := strconv.Atoi(exponent)
			_, places, _ := strings.Cut(mantissa, ".")
			half = 0.5 * math.Pow10(e-len(places))
		} else if _, places, ok := strings.Cut(s, "."); ok {
			half = 0.5 * math.Pow10(-len(places))
		}
		return parsed{v, half}
	}
	switch {
	case strings.Contains(text, "$"):
		return plain(strings.Replace(text, "$", "", 1))
	case strings.HasSuffix(text, "%"):
		p := plain(strings.TrimSuffix(text, "%"))
		return parsed{p.value / 100, p.half / 100}
	case regexp.MustCompile(`^` + dayText + `$`).MatchString(text):
		for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
			if at, err := time.Parse(layout, text); err == nil {
				return parsed{float64(at.Unix()), 0}
			}
		}
		t.Fatalf("%q is no moment", text)
	case regexp.MustCompile(`^` + waitText + `$`).MatchString(text):
		return parseWait(t, text)
	}
	return plain(text)
}

// parseWait reads a length of time: 45 s, 22 min, 9m26s, 1h34m, 3d04h.
func parseWait(t *testing.T, text string) parsed {
	t.Helper()
	text = strings.ReplaceAll(strings.ReplaceAll(text, " min", "m"), " s", "s")
	units := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}
	var sum, last float64
	for text != "" {
		i := strings.IndexAny(text, "smhd")
		v, err := strconv.ParseFloat(text[:i], 64)
		if err != nil {
			t.Fatal(err)
		}
		last = units[text[i]]
		sum, text = sum+v*last, text[i+1:]
	}
	switch last { // hours and minutes, and days and hours, are rounded down
	case 1:
		return parsed{sum, 0.5}
	case 60:
		if sum < 3600 {
			return parsed{sum, 30}
		}
	}
	return parsed{sum + last/2, last/2 + 0.5}
}

// claim is a form that a sentence can have. Its groups are the numbers.
type claim struct {
	id    string
	form  *regexp.Regexp
	check func(c *checker)
}

// checker checks one sentence.
type checker struct {
	*testing.T
	doc    *document
	fig    *picture
	groups map[string]string
}

// equal fails where the text of a group is not value, rounded.
func (c *checker) equal(group string, value float64) {
	c.Helper()
	text := c.groups[group]
	if text == "" {
		return
	}
	p := parse(c.T, text)
	if math.IsNaN(value) || math.Abs(p.value-value) > p.half*1.0001+math.Abs(value)*1e-9 {
		c.Errorf("%s says %s = %s, its data say %v:\n%s", c.fig.ID, group, text, value, c.fig.Sentence)
	}
}

func (c *checker) word(group, want string) {
	c.Helper()
	if got := c.groups[group]; got != "" && got != want {
		c.Errorf("%s says %s = %q, its data say %q:\n%s", c.fig.ID, group, got, want, c.fig.Sentence)
	}
}

func (c *checker) mark(axis string) float64 {
	for _, m := range c.fig.Marks {
		if m.Axis == axis {
			return float64(m.At)
		}
	}
	return math.NaN()
}

// extremeOf returns the index of the extreme value of list by less.
func extremeOf(list []num, less func(a, b float64) bool) int {
	best := -1
	for i, v := range list {
		if !math.IsNaN(float64(v)) && (best < 0 || less(float64(v), float64(list[best]))) {
			best = i
		}
	}
	return best
}

func isAbove(a, b float64) bool { return a > b }
func isBelow(a, b float64) bool { return a < b }

func total(list []num) (sum float64) {
	for _, v := range list {
		if !math.IsNaN(float64(v)) {
			sum += float64(v)
		}
	}
	return sum
}

// form makes the expression of a sentence: {name:m} is an amount, s a share, w a wait, n a count, d a
// day, t any text.
func form(text string) *regexp.Regexp {
	kinds := map[string]string{"m": moneyText, "s": shareText, "w": waitText, "n": countText, "d": dayText, "t": `.+?`}
	out := regexp.MustCompile(`\{(\w+):(\w)\}`).ReplaceAllStringFunc(text, func(s string) string {
		name, kind, _ := strings.Cut(strings.Trim(s, "{}"), ":")
		return `(?P<` + name + `>` + kinds[kind] + `)`
	})
	return regexp.MustCompile(`^` + out + `\.$`)
}

func readDocument(t *testing.T, files ...string) *document {
	t.Helper()
	p := makePaper(t, files...)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

func makePaper(t *testing.T, files ...string) *paper.Paper {
	t.Helper()
	r := &paper.Request{Version: "test", Command: "capcli report"}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		r.Files = append(r.Files, paper.File{Name: name + ".json", Text: text})
	}
	p, err := paper.Make(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sets are the papers that are checked.
var sets = [][]string{
	{"mix", "run-week", "run-small"},
	{"none", "run-small"},
	{"played"},
	{"run-week", "run-small"},
	{"run-week"},
	{"run-log"},
	{"logmix", "run-log", "validate"},
	{"futures", "forecast"},
	{"curve"},
	{"decision"},
	{"service"},
	{"run-services"},
	{"run-served"}, // no job wants GPUs
	{"joint"},
	{"forecast"},
	{"validate"},
	{"run-week", "run-log"},
	{"run-small", "forecast", "mix", "validate", "futures", "curve"},
}

// TestEverySentenceIsTrue: each sentence of each figure is what its data say.
func TestEverySentenceIsTrue(t *testing.T) {
	seen := map[string]bool{}
	for _, files := range sets {
		doc := readDocument(t, files...)
		for i := range doc.Figures {
			f := &doc.Figures[i]
			kind := regexp.MustCompile(`-\d+$`).ReplaceAllString(f.ID, "")
			seen[kind] = true
			known := false
			for _, k := range claims {
				m := k.form.FindStringSubmatch(f.Sentence)
				if k.id != kind || m == nil {
					continue
				}
				known = true
				c := &checker{T: t, doc: doc, fig: f, groups: map[string]string{}}
				for g, name := range k.form.SubexpNames() {
					if name != "" && m[g] != "" {
						c.groups[name] = m[g]
					}
				}
				k.check(c)
			}
			if !known {
				t.Errorf("%v: the sentence of %s has a form that no claim knows:\n%s", files, f.ID, f.Sentence)
			}
		}
	}
	for _, d := range paper.Drawings() {
		if !seen[d.ID] {
			t.Errorf("no paper of the tests has the figure %s", d.ID)
		}
	}
}

// TestEveryTotalSums: the last row of a table with a total is the sum of the others to the cent, and
// a waterfall ends where its changes lead.
func TestEveryTotalSums(t *testing.T) {
	cents := func(v any) int64 {
		f, _ := v.(float64)
		return int64(math.Round(f * 100))
	}
	totals, falls := 0, 0
	for _, files := range sets {
		doc := readDocument(t, files...)
		for _, g := range doc.Tables {
			for c, col := range g.Columns {
				if !g.Total || !col.Sum {
					continue
				}
				var sum int64
				last := len(g.Rows) - 1
				for _, row := range g.Rows[:last] {
					if v, ok := row[c].(float64); ok && math.Abs(v*100-math.Round(v*100)) > 1e-4 {
						t.Errorf("%v, %s, %s: %v is not in whole cents", files, g.ID, col.Name, v)
					}
					sum += cents(row[c])
				}
				if totals++; sum != cents(g.Rows[last][c]) {
					t.Errorf("%v, %s, %s: the rows sum to %d cents, the total is %v", files, g.ID, col.Name, sum, g.Rows[last][c])
				}
			}
		}
		for _, f := range doc.Figures {
			if f.Kind != "waterfall" {
				continue
			}
			y := f.Series[0].Y
			var sum int64
			for _, v := range y[:len(y)-1] {
				sum += cents(float64(v))
			}
			if falls++; sum != cents(float64(y[len(y)-1])) {
				t.Errorf("%v, %s: the changes lead to %d cents, the end is %v", files, f.ID, sum, y[len(y)-1])
			}
		}
	}
	if totals < 20 || falls < 3 {
		t.Errorf("only %d totals and %d waterfalls were checked", totals, falls)
	}
}

// TestHeadlinesAreTheAnswer: the text of each large figure is its value.
func TestHeadlinesAreTheAnswer(t *testing.T) {
	for _, files := range sets {
		doc := readDocument(t, files...)
		for _, h := range doc.Answer.Headlines {
			text, scale := strings.TrimPrefix(h.Text, "over "), 1.0
			for letter, times := range map[string]float64{"k": 1e3, "M": 1e6, "B": 1e9} {
				if rest, ok := strings.CutSuffix(text, letter); ok && strings.HasPrefix(text, "$") {
					text, scale = rest, times
				}
			}
			rest, under := strings.CutPrefix(text, "under ")
			p := parse(t, rest)
			if under {
				p = parsed{p.value / 2, p.value / 2}
			}
			if math.Abs(p.value*scale-float64(h.Value)) > p.half*scale*1.0001+1e-9 {
				t.Errorf("%v: %s reads %s, its value is %v", files, h.Name, h.Text, h.Value)
			}
		}
	}
}

// row returns the first row of a table in which a column has a text.
func (d *document) row(id, column, text string) map[string]any {
	for _, g := range d.Tables {
		if g.ID != id {
			continue
		}
		c := slices.IndexFunc(g.Columns, func(col struct {
			Name, Unit string
			Sum        bool
		},
		) bool {
			return col.Name == column
		})
		for _, row := range g.Rows {
			if c >= 0 && strings.Contains(row[c].(string), text) {
				out := map[string]any{}
				for k, col := range g.Columns {
					out[col.Name] = row[k]
				}
				return out
			}
		}
	}
	return nil
}
