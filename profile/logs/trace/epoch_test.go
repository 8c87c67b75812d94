package trace

import (
	"strings"
	"testing"
	"time"

	"capcli"
)

// The unit of a number is told from its size, or named; the result is the nearest second.
func TestEpoch(t *testing.T) {
	const at = 1767600000
	for _, tt := range []struct {
		text string
		unit int64 // named; 0 for none
		want capcli.Time
		bad  flaw
	}{
		{"1767600000", 0, at, ""},
		{"1767600000.5", 0, at + 1, ""},
		{"12", 0, 12, ""},
		{"7258118400", 0, 7258118400, ""},
		{"1767600000000", 0, at, ""},
		{"1767600000499", 0, at, ""},
		{"1767600000500", 0, at + 1, ""},
		{"1.7676e12", 0, at, ""},
		{"1767600000000.0", 0, at, ""},
		{"100000000000", 0, 100000000, ""},
		{"1767600000000000", 0, at, ""},
		{"1767600000000000000", 0, at, ""},
		{"1.7676e18", 0, at, ""},
		{"7258118401", 0, 0, eitherUnit},
		{"99999999999", 0, 0, eitherUnit},
		{"1e30", 0, 0, tooLarge},
		{"60000", 1000, 60, ""},
		{"-1500", 1000, -1, ""},
		{"-1501", 1000, -2, ""},
		{"99999999999", 1000, 100000000, ""},
		{"99999999999", 1, 99999999999, ""},
		{"1767600000000000", 1, 0, tooLarge},
		{"1767600000", 1e9, 2, ""},
		{"noon", 1000, 0, notTime},
		{"", 1000, capcli.NoTime, ""},
	} {
		c := clock{unit: tt.unit}
		if got, bad := c.read([]byte(tt.text)); bad != tt.bad || bad == flawless && got.at != tt.want {
			t.Errorf("%q, unit %d: got %d, %q, want %d, %q", tt.text, tt.unit, got.at, bad, tt.want, tt.bad)
		}
	}
}

func TestYearLast(t *testing.T) {
	for _, tt := range []struct {
		text  string
		order capcli.DateOrder
		want  string
		bad   flaw
	}{
		{"31/01/2026 16:05", capcli.UnknownOrder, "2026-01-31T16:05:00Z", ""},
		{"1/31/2026 4:05:09 PM", capcli.UnknownOrder, "2026-01-31T16:05:09Z", ""},
		{"3/4/2026 16:05:09", capcli.DayFirst, "2026-04-03T16:05:09Z", ""},
		{"3/4/2026 16:05:09", capcli.MonthFirst, "2026-03-04T16:05:09Z", ""},
		{"03-04-2026T16:05:09.25+02:00", capcli.DayFirst, "2026-04-03T14:05:09Z", ""},
		{"3.4.2026 00:00:00", capcli.MonthFirst, "2026-04-03T00:00:00Z", ""},
		{"3/4/2026 12:00 AM", capcli.DayFirst, "2026-04-03T00:00:00Z", ""},
		{"3/4/2026, 12:00 pm", capcli.DayFirst, "2026-04-03T12:00:00Z", ""},
		{"3/4/2026 16:05", capcli.UnknownOrder, "", eitherOrder},
		{"3/4/2026 16:05", capcli.BothOrders, "", eitherOrder},
		{"31/01/2026 16:05", capcli.BothOrders, "2026-01-31T16:05:00Z", ""},
		{"31/01/2026 16:05", capcli.MonthFirst, "", notTime},
		{"30/02/2026 16:05", capcli.DayFirst, "", notTime},
		{"3/4/2026", capcli.DayFirst, "", notTime},
		{"3/4/2026 25:00", capcli.DayFirst, "", notTime},
		{"3/4/2026 13:00 PM", capcli.DayFirst, "", notTime},
		{"3/4/2026 noon", capcli.DayFirst, "", notTime},
		{"3/4-2026 16:05", capcli.DayFirst, "", notTime},
		{"1.5", capcli.UnknownOrder, "1970-01-01T00:00:02Z", ""},
		{"10.123456789", capcli.UnknownOrder, "1970-01-01T00:00:10Z", ""},
	} {
		c := clock{zone: time.UTC, dates: tt.order}
		got, bad := c.read([]byte(tt.text))
		if bad != tt.bad || bad == flawless && got.at.String() != tt.want {
			t.Errorf("%q, order %d: got %s, %q, want %s, %q", tt.text, tt.order, got.at, bad, tt.want, tt.bad)
		}
	}
}

// The order is told from dates far behind the first, and a file that cannot tell is an error that says what to do.
func TestDatesTell(t *testing.T) {
	head := "job_id,submit,gpus,run_s\n"
	early := strings.Repeat("x,03/04/2026 10:00,1,5\n", 5000)
	for _, tt := range []struct {
		name, text, dates string
		want              string // submit of the first job, or an error
	}{
		{"day", early + "y,13/04/2026 10:00,1,5\n", "", "2026-04-03T10:00:00Z"},
		{"month", early + "y,04/13/2026 10:00,1,5\n", "", "2026-03-04T10:00:00Z"},
		{"neither", early, "", `line 2: submit: the order of day and month in 03/04/2026 10:00 is ambiguous: no date of the file has a day over 12`},
		{"both", early + "y,04/13/2026 10:00,1,5\ny,13/04/2026 10:00,1,5\n", "", "some dates of the file have the day first, others the month"},
		{"named", early, "mdy", "2026-03-04T10:00:00Z"},
		{"none of it", "x,2026-04-03 10:00:00,1,5\nhost-1/2/2026 10,1,1,5\n", "", "2026-04-03T10:00:00Z"},
	} {
		for _, format := range []string{"csv", "sacct"} {
			text := head + tt.text
			if format == "sacct" {
				text = strings.NewReplacer(",", "|").Replace("JobID,Submit,NCPUS,ElapsedRaw,Start,State\n" + strings.ReplaceAll(tt.text, ",5\n", ",5,1775210400,FAILED\n"))
				tt.want = strings.Replace(tt.want, "submit:", "Submit:", 1)
			}
			order, _ := capcli.ParseDateOrder(tt.dates)
			r, err := Open(Input{Name: "f", R: strings.NewReader(text)}, Options{TZ: time.UTC, Dates: order, Format: format})
			if err != nil {
				t.Fatal(err)
			}
			for j, err := range r.Jobs() {
				if err == nil && j.Submit.String() != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s, %s: got %s, %v, want %s", tt.name, format, j.Submit, err, tt.want)
				}
				break
			}
		}
	}
}
