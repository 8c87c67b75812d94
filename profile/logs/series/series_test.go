package series

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"capcli"
)

func read(t *testing.T, text string, o Options) *Table {
	t.Helper()
	o.Name = "in"
	got, err := Read(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadGivesEachSeries(t *testing.T) {
	tests := []struct {
		name, text string
		o          Options
		want       string // name step first last values
	}{
		{"Nixtla's names", "unique_id,ds,y\na,2026-01-01,1\nb,2026-01-01,5\na,2026-01-02,2\nb,2026-01-02,6\n", Options{}, "a 1d 2026-01-01 [1 2]; b 1d 2026-01-01 [5 6]"},
		{"own names", "who;when;n\na;2026-01-01T00:00:00Z;1\na;2026-01-01T01:00:00Z;2\n", Options{ID: "who", Time: "when", Value: "n"}, "a 1h 2026-01-01T00:00:00Z [1 2]"},
		{"one series, index and value", "index,value\n1,112\n2,118\n3,NA\n", Options{}, "series 0s 1 [112 118 NaN]"},
		{"the one other column is the value", "date,gpus\n2026-01-01,4\n2026-01-02,5\n", Options{}, "series 1d 2026-01-01 [4 5]"},
		{"month ends", "ds,y\n2025-12-31,1\n2026-01-31,2\n2026-02-28,3\n", Options{}, "series 1mo 2025-12-31 [1 2 3]"},
		{"quarters", "ds,y\n2025-01-01,1\n2025-04-01,2\n2025-07-01,3\n2025-10-01,4\n", Options{}, "series 1q 2025-01-01 [1 2 3 4]"},
		{"years", "ds,y\n2023-01-01,1\n2024-01-01,2\n2025-01-01,3\n", Options{}, "series 1y 2023-01-01 [1 2 3]"},
		{"weeks", "ds,y\n2026-11-02,1\n2026-11-09,2\n2026-11-16,3\n", Options{}, "series 1w 2026-11-02 [1 2 3]"},
		{"a gap", "ds,y\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,2\n2026-01-01T03:00:00Z,4\n", Options{}, "series 1h 2026-01-01T00:00:00Z [1 2 NaN 4]"},
		{"out of order", "ds,y\n3,c\n", Options{}, "error"},
		{"rows out of order", "ds,y\n3,30\n1,10\n2,20\n", Options{}, "series 0s 1 [10 20 30]"},
		{"one value a line", "3\n1.5\n\nNA\n-2e3\n", Options{}, "series 0s 1 [3 1.5 NaN -2000]"},
		{"one value a line under a head", "gpus\n3\n4\n", Options{}, "gpus 0s 1 [3 4]"},
		{"JSON lines", "{\"unique_id\":\"a\",\"ds\":\"2026-01-01\",\"y\":1}\n{\"y\":null,\"ds\":\"2026-01-02\",\"unique_id\":\"a\"}\n", Options{}, "a 1d 2026-01-01 [1 NaN]"},
		{"quotes, a byte order mark and CRLF", "\ufeffunique_id,ds,y\r\n\"a, \"\"b\"\"\",2026-01-01,1\r\n\"a, \"\"b\"\"\",2026-01-02,\"2\"\r\n", Options{}, "a, \"b\" 1d 2026-01-01 [1 2]"},
		{"a day of 23 hours", "ds,y\n2026-03-28,1\n2026-03-29,2\n2026-03-30,3\n", Options{Zone: berlin(t)}, "series 1d 2026-03-28 [1 2 3]"},
	}
	for _, tt := range tests {
		tt.o.Name = "in"
		table, err := Read(strings.NewReader(tt.text), tt.o)
		if tt.want == "error" {
			if err == nil {
				t.Errorf("%s: no error", tt.name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		list, err := table.Regular(Rules{Zone: tt.o.Zone})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for i := range list {
			s := &list[i]
			got = append(got, fmt.Sprintf("%s %s %s %v", s.Name, s.Grid.Step, table.Text(s.Stamp(0), tt.o.Zone), s.Values))
		}
		if g := strings.Join(got, "; "); g != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, g, tt.want)
		}
	}
}

func berlin(t testing.TB) *time.Location {
	t.Helper()
	z, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	return z
}

func TestBadInputNamesThePlace(t *testing.T) {
	tests := []struct {
		name, text string
		rules      Rules
		want       string
	}{
		{"empty", "", Rules{}, "in: the file is empty: expected a table of series"},
		{"binary", "a\x00b", Rules{}, "in: expected text, found binary data"},
		{"only a head", "unique_id,ds,y\n", Rules{}, "in: there is no value in it: expected rows with a stamp and a figure"},
		{"no time", "unique_id,y\na,1\n", Rules{}, "in: line 1: there is no column of times: expected ds, found unique_id, y"},
		{"no value", "ds,a,b\n1,2,3\n", Rules{}, "in: line 1: there is no column of values: expected y, found ds, a, b"},
		{"infinite", "ds,y\n1,2\n2,inf\n", Rules{}, `in: line 3: y: expected a finite number, found "inf"`},
		{"too large", "ds,y\n1,2\n2,1e200\n", Rules{}, `in: line 3: y: expected a number under 1e100, found "1e200"`},
		{"overflow", "1\n1e999\n", Rules{}, `in: line 2: value: expected a finite number, found "1e999"`},
		{"no number", "ds,y\n1,2\n2,two\n", Rules{}, `in: line 3: y: expected a number, found "two"`},
		{"hexadecimal", "ds,y\n1,0x10\n", Rules{}, `in: line 2: y: expected a number, found "0x10"`},
		{"no stamp", "ds,y\n,2\n", Rules{}, `in: line 2: ds: the stamp is missing`},
		{"bad stamp", "ds,y\n2026-02-30,2\n", Rules{}, `in: line 2: ds: expected a time (2026-11-20T13:00:00Z), a date or a whole number, found "2026-02-30"`},
		{"two kinds of stamp", "ds,y\n2026-02-01,2\n7,3\n", Rules{}, "in: line 3: ds: expected stamps of one kind, found times and whole numbers"},
		{"ragged", "ds,y\n1,2\n2,3,4\n", Rules{}, "in: line 3: expected 2 columns as in the head, found 3"},
		{"open quote", "ds,y\n\"1,2\n", Rules{}, "in: line 2: a quote does not end"},
		{"duplicates", "unique_id,ds,y\na,1,2\na,2,2\na,2,3\na,2,3\n", Rules{}, "in: line 4: ds: a: 2 duplicate stamps, the first 2, also at line 3"},
		{"mixed steps", "ds,y\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,1\n2026-01-01T02:00:00Z,1\n2026-01-01T02:25:00Z,1\n", Rules{}, "in: line 5: ds: the steps are mixed: 1 of 3 are not a multiple of 1h, the first in series at 2026-01-01T02:25:00Z"},
		{"gaps refused", "ds,y\n1,1\n2,1\n4,1\n", Rules{Gaps: Refuse}, "in: y: series: no data in 1 of 4 steps, in 1 gap (3)"},
		{"a step of numbers", "ds,y\n1,1\n2,1\n", Rules{Step: capcli.Step{Days: 1}}, "in: a step of 1d needs stamps that are times, found whole numbers"},
		{"a step too fine", "ds,y\n2026-01-01,1\n2026-01-02,1\n", Rules{Step: capcli.Step{Seconds: 3600}}, "in: the stamps are 1d apart, which cannot be cut into steps of 1h"},
		{"a far stamp", "ds,y\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:01Z,1\n2026-01-01T00:00:02Z,1\n2400-01-01T00:00:00Z,1\n", Rules{}, "in: series reaches from 2026-01-01T00:00:00Z to 2400-01-01T00:00:00Z: more steps than the limit of 50,000,000"},
		{"a long line", "ds,y\n1," + strings.Repeat("9", 2<<20) + "\n", Rules{}, "in: line 2: the line is longer than 1 MiB"},
	}
	for _, tt := range tests {
		table, err := Read(strings.NewReader(tt.text), Options{Name: "in"})
		if err == nil {
			_, err = table.Regular(tt.rules)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.name, err, tt.want)
			continue
		}
		if _, ok := errors.AsType[*capcli.InputError](err); !ok {
			t.Errorf("%s: %T is no InputError", tt.name, err)
		}
	}
}

func TestGapsAreTreatedAsAsked(t *testing.T) {
	const text = "ds,y\n1,1\n2,NA\n3,\n4,4\n6,6\n"
	tests := []struct {
		gaps   Gaps
		want   string
		filled int
	}{
		{Leave, "[1 NaN NaN 4 NaN 6]", 0},
		{"", "[1 NaN NaN 4 NaN 6]", 0},
		{Zero, "[1 0 0 4 0 6]", 3},
		{Linear, "[1 2 3 4 5 6]", 3},
		{Previous, "[1 1 1 4 4 6]", 3},
	}
	for _, tt := range tests {
		list, err := read(t, text, Options{}).Regular(Rules{Gaps: tt.gaps})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(list[0].Values); got != tt.want || list[0].Gaps != 3 || list[0].Filled != tt.filled {
			t.Errorf("%s: %s, %d gaps, %d filled; want %s, 3, %d", tt.gaps, got, list[0].Gaps, list[0].Filled, tt.want, tt.filled)
		}
		if len(list[0].Notes) != 1 || !strings.HasPrefix(list[0].Notes[0], "no data in 3 of 6 steps, in 2 gaps (2 to 3, 5); ") {
			t.Errorf("%s: notes %q", tt.gaps, list[0].Notes)
		}
	}
}

func TestSteps(t *testing.T) {
	var b strings.Builder
	b.WriteString("ds,y\n")
	start := time.Date(2026, 3, 27, 23, 0, 0, 0, time.UTC) // midnight of the 28th in Berlin
	for i := range 71 {                                    // three days, the second of 23 hours
		fmt.Fprintf(&b, "%s,%d\n", start.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), i)
	}
	tests := []struct {
		agg  Combine
		want string
	}{{Mean, "[11.5 35 58.5]"}, {Sum, "[276 805 1404]"}, {Max, "[23 46 70]"}}
	for _, tt := range tests {
		list, err := read(t, b.String(), Options{}).Regular(Rules{Step: capcli.Step{Days: 1}, Combine: tt.agg, Zone: berlin(t)})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(list[0].Values); got != tt.want {
			t.Errorf("%s by day: %s, want %s", tt.agg, got, tt.want)
		}
	}
	list, err := read(t, b.String(), Options{}).Regular(Rules{Step: capcli.Step{Days: 1}, Combine: Sum})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(list[0].Values, len(list[0].Notes)); got != "[300 876] 2" {
		t.Errorf("days that the table covers in part: %s, want [300 876] and 2 notes", got)
	}
}

func TestPrometheus(t *testing.T) {
	const text = `{"status":"success","data":{"resultType":"matrix","result":[
		{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"n1","gpu":"0"},"values":[[1700000000,"1"],[1700000060,"NaN"],[1700000120,"9223372036854775794"],[1700000180,"+Inf"],[1700000240,"5"]]},
		{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","hostname":"n1","gpu":"0"},"values":[[1700000300,"6"]]}]}}`
	table := read(t, text, Options{})
	list, err := table.Regular(Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Name != "DCGM_FI_DEV_GPU_UTIL{gpu=0,hostname=n1}" || fmt.Sprint(list[0].Values) != "[1 NaN NaN NaN 5 6]" || list[0].Grid.Step.String() != "1m" {
		t.Errorf("got %+v", list)
	}
	if got := strings.Join(table.Notes, "; "); got != "1 value that DCGM marks as blank: taken as missing; 1 infinite value: taken as missing" {
		t.Errorf("notes %q", got)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"unknown metric", `{"status":"success","data":{"resultType":"matrix","result":[]}}`, "the query gave no series"},
		{"refused", `{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"}`, "bad_data: Prometheus refused the query: exceeded"},
		{"a vector", `{"status":"success","data":{"resultType":"vector","result":[]}}`, "expected a matrix"},
		{"cut", `{"status":"success","data":{"resultType":"matrix","result":[{"met`, "expected an answer of Prometheus"},
	} {
		_, err := Read(strings.NewReader(tt.text), Options{Name: "in"})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

func TestNamesOfSeriesAreUTF8(t *testing.T) {
	_, err := Read(strings.NewReader("unique_id,ds,y\na\xfe,2026-01-01,1\na\xff,2026-01-01,2\n"), Options{Name: "in"})
	if err == nil || !strings.Contains(err.Error(), "line 2: the name of the series is not valid UTF-8") {
		t.Errorf("got %v", err)
	}
}

func TestSniff(t *testing.T) {
	tests := []struct {
		head string
		o    Options
		want bool
	}{
		{"unique_id,ds,y\n", Options{}, true},
		{"index,value\n1,2\n", Options{}, true},
		{"1\n2\n", Options{}, true},
		{"job_id,submit,gpus,run_s\n", Options{}, false},
		{"a,b\n", Options{Time: "a", Value: "b"}, true},
		{"{\"ds\":1,\"y\":2}\n", Options{}, true},
		{"{\"job_id\":1,\"submit\":2}\n", Options{}, false},
		{"; SWF\n", Options{}, false},
		{"", Options{}, false},
		{"gpus\n1\n2\n", Options{}, true},
		{"timestamp,gpus\n", Options{}, true},
		{"unique_id,timestamp,gpus_used\n", Options{}, true},
		{"timestamp,gpus,run_s\n", Options{}, false},
	}
	for _, tt := range tests {
		if got := Sniff([]byte(tt.head), tt.o); got != tt.want {
			t.Errorf("Sniff(%q) = %v, want %v", tt.head, got, tt.want)
		}
	}
}

// A column called timestamp holds times, in text or as seconds since 1970 and parts
// of them; small numbers still count steps.
func TestTimestamps(t *testing.T) {
	tests := []struct {
		name, text string
		stamp      Stamp
		first      string
	}{
		{"text", "timestamp,gpus\n2026-01-01T00:00:00Z,1\n2026-01-01T01:00:00Z,2\n", Instant, "2026-01-01T00:00:00Z"},
		{"seconds", "timestamp,gpus\n1767225600,1\n1767229200,2\n", Instant, "2026-01-01T00:00:00Z"},
		{"seconds of pandas", "timestamp,gpus\n1767225600.0,1\n1767229200.0,2\n", Instant, "2026-01-01T00:00:00Z"},
		{"milliseconds", "Timestamp,gpus\n1767225600000,1\n1767229200000,2\n", Instant, "2026-01-01T00:00:00Z"},
		{"nanoseconds", "timestamp,gpus\n1767225600000000000,1\n1767229200000000000,2\n", Instant, "2026-01-01T00:00:00Z"},
		{"JSON", "{\"timestamp\":1767225600,\"y\":1}\n{\"timestamp\":1767229200,\"y\":2}\n", Instant, "2026-01-01T00:00:00Z"},
		{"steps", "timestamp,gpus\n1,1\n2,2\n", Index, "1"},
		{"steps by another name", "ds,gpus\n1767225600,1\n1767229200,2\n", Index, "1767225600"},
	}
	for _, tt := range tests {
		table, err := Read(strings.NewReader(tt.text), Options{Name: "in"})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := table.Text(table.Series[0].Rows[0].At, nil); table.Stamp != tt.stamp || got != tt.first {
			t.Errorf("%s: stamps of kind %v, the first %s; want %v, %s", tt.name, table.Stamp, got, tt.stamp, tt.first)
		}
	}
	if _, err := Read(strings.NewReader("timestamp,gpus\n1767225600,1\n5,2\n"), Options{Name: "in"}); err == nil {
		t.Error("seconds since 1970, then 5: no error")
	}
}

// What a reader gives of any bytes at all: finite or missing figures on equal
// steps that rise, and never more of them than rows and gaps.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"unique_id,ds,y\na,2026-01-01,1\na,2026-01-02,2\n", "1\n2\nNA\n", "{\"ds\":1,\"y\":2}\n", "ds,y\n2026-01-31,1\n2026-02-28,2\n",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"2"]]}]}}`, "a;b\n\"1;2\n", "ds,y\n1,1e400\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Read(strings.NewReader(text), Options{Name: "in", MaxRows: 10000})
		if err != nil {
			return
		}
		list, err := table.Regular(Rules{Combine: Mean, MaxPoints: 100000})
		if err != nil {
			return
		}
		for i := range list {
			s := &list[i]
			if len(s.Values) == 0 {
				t.Fatalf("%q has no value", s.Name)
			}
			for k, v := range s.Values {
				if math.IsInf(v, 0) {
					t.Fatalf("%q: value %d is %v", s.Name, k, v)
				}
				if k > 0 && s.Stamp(k) <= s.Stamp(k-1) {
					t.Fatalf("%q: stamp %d is %d, after %d", s.Name, k, s.Stamp(k), s.Stamp(k-1))
				}
			}
			if rows := table.Series[i].Rows; s.Stamp(0) != rows[0].At || s.Stamp(len(s.Values)-1) != rows[len(rows)-1].At {
				t.Fatalf("%q: from %d to %d, its rows from %d to %d", s.Name, s.Stamp(0), s.Stamp(len(s.Values)-1), rows[0].At, rows[len(rows)-1].At)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString("unique_id,ds,y\n")
	for i := range 100000 {
		fmt.Fprintf(&text, "series%d,%s,%d.5\n", i%10, time.Unix(1.7e9+int64(i/10)*3600, 0).UTC().Format(time.RFC3339), i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		table, err := Read(strings.NewReader(text.String()), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := table.Regular(Rules{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The same table in other clothes: an array of objects, milliseconds, dates with the year last, UTF-16.
func TestOtherClothes(t *testing.T) {
	const plain = "unique_id,ds,y\na,2026-01-03,1\na,2026-01-04,2\na,2026-01-13,3\n"
	want, err := Read(strings.NewReader(plain), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wide := []byte{0xfe, 0xff}
	for _, unit := range utf16.Encode([]rune(plain)) {
		wide = append(wide, byte(unit>>8), byte(unit))
	}
	for name, text := range map[string]string{
		"array":     `[{"unique_id":"a","ds":"2026-01-03","y":1}, {"unique_id":"a","ds":"2026-01-04","y":2},` + "\n" + `{"unique_id":"a","ds":"2026-01-13","y":3}]`,
		"day first": "unique_id,ds,y\na,03/01/2026,1\na,04/01/2026,2\na,13/01/2026,3\n",
		"dots":      "unique_id;ds;y\na;3.1.2026;1\na;4.1.2026;2\na;13.1.2026;3\n",
		"times":     "unique_id,ds,y\na,01/03/2026 00:00,1\na,01/04/2026 00:00,2\na,01/13/2026 00:00:00,3\n",
		"millis":    "unique_id,ds,y\na,1767398400000,1\na,1767484800000,2\na,1768262400000,3\n",
		"nanos":     "unique_id,ds,y\na,1767398400000000000,1\na,1767484800000000000,2\na,1768262400000000000,3\n",
		"UTF-16":    string(wide),
	} {
		if name != "UTF-16" && !Sniff([]byte(text), Options{}) {
			t.Errorf("%s: not recognised", name)
		}
		got, err := Read(strings.NewReader(text), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for k, row := range want.Series[0].Rows {
			if r := got.Series[0].Rows[k]; r.At != row.At || r.Value != row.Value || got.Stamp != Instant {
				t.Errorf("%s: row %d is %+v, want %+v", name, k, r, row)
			}
		}
	}
	for text, wrong := range map[string]string{
		"unique_id,ds,y\na,03/01/2026,1\na,04/01/2026,2\n":                 `the day and the month of "03/01/2026" cannot be told apart: no date of the file has a day over 12`,
		"unique_id,ds,y\na,03/01/2026,1\na,13/01/2026,2\na,01/14/2026,2\n": "some dates of the file have the day first, others the month",
		`[{"unique_id":"a","ds":"2026-01-03","y":1}`:                       "is cut short: the list that begins at line 1 does not end",
		`[{"unique_id":"a","ds":"2026-01-03","y":1}, nothing]`:             "want a JSON object, found 'n'",
	} {
		_, err := Read(strings.NewReader(text), Options{})
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: got %v, want %s", text, err, wrong)
		}
	}
	if got, err := Read(strings.NewReader("unique_id,ds,y\na,03/01/2026,1\n"), Options{Dates: capcli.MonthFirst}); err != nil || got.Series[0].Rows[0].At != 1772323200 {
		t.Errorf("with an order named: %v", err)
	}
}
