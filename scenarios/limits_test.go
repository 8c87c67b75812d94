package scenarios

import (
	"fmt"
	"strings"
	"testing"
)

const head = "capcli: scenario/v1\ncapacity: [{kind: owned, gpus: 4, free: true}]\n"

func TestHostileFilesAreRefusedQuickly(t *testing.T) {
	for _, x := range []struct{ name, text, want string }{
		{"empty", "", "is empty"},
		{"blank", " \n\n", "is empty"},
		{"comments", "# nothing\n", "nothing but comments"},
		{"binary", "\x00\x01\x02", "not text"},
		{"latin1", "name: caf\xe9", "not text"},
		{"utf16", "\xff\xfec\x00a\x00", "not text"},
		{"too long", head + strings.Repeat("#x\n", 400_000), "at most 1048576"},
		{"deep", head + "name: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "more than 64 levels"},
		{"very deep", head + "name: " + strings.Repeat("[", 500_000), "depth"},
		{"bomb", head + "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "an anchor (&a) is not allowed"},
		{"alias", head + "name: &x y\ndescription: *x\n", "an alias (*x)"},
		{"merge", head + "overflow: {<<: {patience: 1m}}\n", "merge key"},
		{"tag", head + "seed: !!int 7\n", "a tag (!!int)"},
		{"two documents", head + "---\na: 1\n", "a second document"},
		{"list of bad pools", "capcli: scenario/v1\ncapacity: [" + strings.Repeat("1,", 4000) + "1]\n", "has 4001 problems"},
		{"bad pools in lines", "capcli: scenario/v1\ncapacity:\n" + strings.Repeat("  - {gpus: -1, kind: owned}\n", 4000), "and "},
		{"too many pools", "capcli: scenario/v1\ncapacity: [" + strings.Repeat("{},", 5000) + "]\n", "a list of 5000 pools; at most 4096"},
		{"too many tenants", head + "tenants: [" + strings.Repeat("{},", 100_001) + "]\n", "at most 100000"},
		{"many unknown fields", head + strings.Repeat("k: 1\n", 100_000), "problems"},
		{"one long value", head + "name: " + strings.Repeat("x", 900_000), "at most 200 are allowed"},
		{"a trace in place of a scenario", "; Version: 2.2\n; Computer: IBM SP2\n    1 0 5 10 8 -1\n", "begins with capcli: scenario/v1"},
		{"a list", "- a\n- b\n", "begins with capcli"},
		{"tab", head + "overflow:\n\tpatience: 1m\n", "4:1  a tab indents this line"},
		{"syntax", head + "name: [a\nseed: 1\n", "not valid YAML"},
		{"escapes", head + "name: \"a\\e[2Jb\"\n", "control characters"},
	} {
		_, err := Parse("s.yaml", []byte(x.text))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %.300v, want …%s…", x.name, err, x.want)
		}
	}
}

func TestValuesThatAreWrong(t *testing.T) {
	pool := func(s string) string { return "capcli: scenario/v1\ncapacity:\n  - {" + s + "}\n" }
	for _, x := range []struct{ text, want string }{
		{pool("kind: owned, gpus: 8, price: -2"), "price is -2; a price is not negative"},
		{pool("kind: owned, gpus: 8, price: .inf"), "want a price"},
		{pool("kind: owned, gpus: 8, price: 2 EUR/gpu-h"), "want US dollars"},
		{pool("kind: owned, gpus: 8, price: 2.1234567"), "six decimal places"},
		{pool("kind: owned, gpus: 8, price: 250000"), "more than one GPU-hour"},
		{pool("kind: owned, gpus: 8, price: 1,000"), "write 1000, or 1.000"},
		{pool("kind: owned, gpus: 8, price: 2, free: true"), "leave one out"},
		{pool("kind: owned, gpus: 8.5"), "want a whole number"},
		{pool("kind: owned, gpus: 99999999999999999999"), "want a whole number"},
		{pool("kind: owned, gpus: 2000000"), "want 1 to 1000000"},
		{pool("kind: owned"), "the size is missing"},
		{pool("gpus: 8"), "kind is missing"},
		{pool("kind: owned, nodes: 4"), "gpus_per_node"},
		{pool("kind: owned, nodes: 4, gpus: 8, gpus_per_node: 8"), "leave one out"},
		{pool("kind: owned, gpus: 20, gpus_per_node: 8"), "no whole number of nodes"},
		{pool("kind: owned, nodes: 1000000, gpus_per_node: 8"), "at most 1000000"},
		{pool("kind: owned, max_gpus: 8"), "max_gpus is for on_demand and spot"},
		{pool("kind: owned, gpus: 8, lead_time: 5m"), "lead_time is for on_demand"},
		{pool("kind: spot, max_gpus: 8, hazard: {mean_up: 1d, mean_down: 1h}"), "hazard is of nodes"},
		{pool("kind: spot, nodes: 2, gpus_per_node: 8, hazard: {mean_up: 0, mean_down: 1h}"), "at least 1 s"},
		{pool("kind: spot, nodes: 2, gpus_per_node: 8, hazard: {mean_up: 1d}"), "mean_down is missing"},
		{pool("kind: spot, nodes: 2, gpus_per_node: 8, availability: {file: a.json}"), "polarity is missing"},
		{pool("kind: spot, nodes: 2, gpus_per_node: 8, failures: {mtbf: 1d, repair: 1h}, hazard: {mean_up: 1d, mean_down: 1h}"), "leave one out"},
		{pool("kind: owned, gpus: 8, from: 2027-01-01"), "there is no period"},
		{pool("kind: owned, gpus: 8, from: 5d, until: 3d"), "until is not after from"},
		{pool("kind: owned, gpus: 8, from: 2027-02-30"), "want a date"},
		{pool("kind: owned, gpus: 8, until: 5000000d"), "over 50 years"},
		{pool("kind: reserved, gpus: 8, term: soon"), "want a term"},
		{pool("kind: owned, gpus: null"), "gpus has no value"},
		{pool("kind: owned, gpus: [8]"), "found a list"},
		{head + "period: 2027-01-01\n", "want a period"},
		{head + "period: 2027-13-01 to 2027-12-31\n", "is no date"},
		{head + "period: 1900-01-01 to 2027-12-31\n", "is no date since 1970"},
		{head + "period: 2027-01-01 to 2127-12-31\n", "over 50 years"},
		{head + "jobs: {from: a, generate: {span: 1d, start: 2027-01-01, classes: [{name: a, kind: steady, gpus: 2}]}}\n", "leave one out"},
		{head + "jobs: {generate: {classes: [{name: a, kind: steady, gpus: 2}]}}\n", "generate needs start and span"},
		{head + "jobs: {generate: {classes: []}}\n", "give classes"},
		{head + "jobs: {from: a, tz: Europe/Berlni}\n", "unknown time zone"},
		{head + "trace: a\njobs: b\n", "leave one out"},
		{head + "policy: {name: easy, half_life: 0s}\n", "at least 1 s"},
		{head + "policy: {name: las, queue_limits: [5, 3]}\n", "must grow"},
		{head + "placement: cuont\n", `did you mean "count"?`},
		{head + "overflow: {order: [ondemand]}\n", `did you mean "on_demand"?`},
		{head + "overflow: {order: [on_demand, owned]}\n", "always first"},
		{head + "overflow: {order: [spot, spot]}\n", "there twice"},
		{head + "overflow: {patience: [{wait: 1h}, {max_run: 2h, wait: 1h}]}\n", "never reached"},
		{head + "tenants: [{name: a}, {name: a}]\n", "is there twice"},
		{head + "tenants: [{name: a, weight: .nan}]\n", "want a number"},
		{head + "tenants: [{name: a, weight: 1,5}]\n", "write 1.5"},
		{head + "limits: {wait_p95: soon}\n", "no length of time"},
		{head + "limits: {cost: 1.7X}\n", "no amount"},
		{head + "limits: {wait_p95: 1m, wait_p95_s: 2m}\n", "bounded twice"},
		{head + "preemption: {mode: pause}\n", "unknown mode"},
		{head + "preemption: {mode: checkpoint}\n", "no class has checkpoint_every"},
		{head + "preemption: {mode: checkpoint, classes: [{restart: 2m}]}\n", "no class has checkpoint_every"},
		{head + "name: ''\n", "name is empty"},
	} {
		_, err := Parse("s.yaml", []byte(x.text))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s\ngot %v\nwant …%s…", x.text, err, x.want)
		} else if n := strings.Count(err.Error(), "s.yaml:"); n != 1 {
			t.Errorf("%s\ngot %d faults, want the one:\n%v", x.text, n, err)
		}
	}
}

func TestAtMostTwentyFaultsAreShown(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for i := range 50 {
		fmt.Fprintf(&b, "field%d: 1\n", i)
	}
	_, err := Parse("s.yaml", []byte(b.String()))
	if err == nil || strings.Count(err.Error(), "s.yaml:") != 20 || !strings.Contains(err.Error(), "and 30 more") || !strings.Contains(err.Error(), "has 50 problems") {
		t.Errorf("got %v, want 50 problems, 20 shown and 30 more", err)
	}
}

func TestLongLinesAreCutAroundTheFault(t *testing.T) {
	text := head + "tenants: [" + strings.Repeat("{name: a, weight: 1}, ", 30) + "{name: zz, wieght: 1}" + strings.Repeat(", {name: b, weight: 1}", 1) + "]\n"
	_, err := Parse("s.yaml", []byte(strings.ReplaceAll(text, "{name: a, weight: 1}, ", "                      ")))
	lines := strings.Split(fmt.Sprint(err), "\n")
	for i, l := range lines {
		if at := strings.Index(l, "^"); at >= 0 {
			above := []rune(lines[i-1])
			if len(above) > 130 || string(above[at:at+6]) != "wieght" {
				t.Errorf("the mark stands wrong:\n%s\n%s", lines[i-1], l)
			}
			return
		}
	}
	t.Errorf("no mark in %v", err)
}
