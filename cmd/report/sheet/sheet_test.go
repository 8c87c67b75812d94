package sheet

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"capcli/cmd/report/paper"
	"capcli/scenarios/figure"
)

// attacks are names that a spreadsheet must not run.
var attacks = []string{
	`=HYPERLINK("http://x.example","click")`, "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "\t=1+1", "\r=1+1", "=1+1\x00", "'=1", "<script>", "a\x1b[2J", strings.Repeat("=", 40_000), "\xff\xfe",
}

// sample is a paper with a total, unknown values and hostile names.
func sample() *paper.Paper {
	p := &paper.Paper{
		Title: attacks[0], Version: "test", Command: "capcli report", Answer: paper.Answer{Sentence: attacks[1], Heads: []paper.Headline{{Name: "Cost a year", Value: 12.5, Unit: figure.USD}}},
		Inputs: []paper.Input{{File: attacks[2], SHA256: "00"}}, Notes: attacks,
		Tables: []paper.Table{{
			ID: "bills", Title: "Bills", Total: true,
			Columns: []paper.Column{{Name: "Tenant", Unit: figure.Name}, {Name: "Cost", Unit: figure.USD, Sum: true}, {Name: "Hours", Unit: figure.GPUHours, Sum: true}},
		}},
		Figures: []figure.Figure{{
			ID: "bills", Kind: figure.Lines, X: figure.Axis{Label: "Time", Unit: figure.Time}, Y: figure.Axis{Label: "GPUs", Unit: figure.Count},
			Series: []figure.Series{{Name: "=1+1", X: []figure.Number{0, 3600}, Y: []figure.Number{1, figure.Number(math.NaN())}}},
		}},
	}
	t := &p.Tables[0]
	for i, name := range attacks {
		t.Rows = append(t.Rows, []any{name, figure.Number(i) + 0.01, figure.Number(math.NaN())})
	}
	t.Rows = append(t.Rows, []any{"Total", figure.Number(66.12), figure.Number(0)})
	return p
}

func write(t *testing.T, p *paper.Paper) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWorkbook reads a workbook back: every name is a text cell, no cell but the totals is a formula,
// a total is the sum of the cells above it, and the bytes are the same each time.
func TestWorkbook(t *testing.T) {
	text := write(t, sample())
	if !bytes.Equal(text, write(t, sample())) {
		t.Error("the same paper gives other bytes")
	}
	f, err := excelize.OpenReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	want := []string{"answer", "bills", "bills-2", "assumptions", "words", "inputs"}
	if got := f.GetSheetList(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("sheets %q, want %q", got, want)
	}
	formulas := 0
	for _, name := range f.GetSheetList() {
		rows, err := f.GetRows(name)
		if err != nil {
			t.Fatal(err)
		}
		for r, row := range rows {
			for c, v := range row {
				at, _ := excelize.CoordinatesToCellName(c+1, r+1)
				formula, _ := f.GetCellFormula(name, at)
				kind, _ := f.GetCellType(name, at)
				switch {
				case formula != "":
					formulas++
				case strings.ContainsAny(v, "\x00\x1b\t\r"):
					t.Errorf("%s!%s has control characters: %q", name, at, v)
				case v != "" && strings.ContainsRune("=+-@", rune(v[0])) && kind != excelize.CellTypeSharedString && kind != excelize.CellTypeInlineString:
					t.Errorf("%s!%s is %q of kind %v, want text", name, at, v, kind)
				}
			}
		}
	}
	if formulas != 2 {
		t.Errorf("%d formulas, want the two totals", formulas)
	}
	last := fmt.Sprintf("B%d", 4+len(attacks))
	if got, err := f.CalcCellValue("bills", last, excelize.Options{RawCellValue: true}); err != nil || got != "66.12" {
		t.Errorf("the total is calculated as %q, %v; want 66.12", got, err)
	}
	if got, _ := f.GetCellValue("bills", "B5", excelize.Options{RawCellValue: true}); got != "1.01" {
		t.Errorf("B5 is %q, want 1.01: amounts are not rounded", got)
	}
}

// TestSheetNames: names are short, unique whatever their case, and have no sign that a sheet may not
// have.
func TestSheetNames(t *testing.T) {
	b := &book{File: excelize.NewFile(), styles: map[figure.Unit]int{}, names: map[string]bool{}}
	defer func() { _ = b.Close() }()
	for _, tt := range [][2]string{
		{"a/b:c*[d]?", "a-b-c--d--"}, {"A/B:C*[D]?", "A-B-C--D---2"}, {"", "sheet"}, {strings.Repeat("ä", 40), strings.Repeat("ä", 31)}, {strings.Repeat("ä", 40), strings.Repeat("ä", 29) + "-2"},
	} {
		if got := b.sheet(tt[0]); got != tt[1] {
			t.Errorf("%q: sheet %q, want %q", tt[0], got, tt[1])
		}
	}
	if b.err != nil {
		t.Error(b.err)
	}
}

// TestWorkbookRecalculated lets a spreadsheet program compute the totals again, where one is
// installed.
func TestWorkbookRecalculated(t *testing.T) {
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "book.xlsx")
	if err := os.WriteFile(file, write(t, sample()), 0o600); err != nil {
		t.Fatal(err)
	}
	// The second token is the sheet: 2 is bills.
	cmd := exec.Command(office, "-env:UserInstallation=file://"+dir+"/profile", "--headless", "--convert-to", `csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,2`, "--outdir", dir, file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v", names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	cells := strings.Split(lines[len(lines)-1], ",")
	if v, err := strconv.ParseFloat(cells[1], 64); cells[0] != "Total" || err != nil || math.Abs(v-66.12) > 1e-9 {
		t.Errorf("recalculated: %q, want a total of 66.12", lines[len(lines)-1])
	}
	if strings.Contains(string(text), "\n2,") {
		t.Error("a name was calculated")
	}
}
