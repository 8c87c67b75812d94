package trace

import (
	"fmt"
	"strings"
	"testing"

	"capcli"
)

// readTags reads a log with tags and returns the keys of the tags of its jobs, and the number of
// different *capcli.Tags.
func readTags(text string, o Options) (keys []string, sets int, err error) {
	r, err := Open(Input{Name: "jobs", R: strings.NewReader(text)}, o)
	if err != nil {
		return nil, 0, err
	}
	seen := map[*capcli.Tags]bool{}
	for j, err := range r.Jobs() {
		if err != nil {
			return nil, 0, err
		}
		keys = append(keys, fmt.Sprint(j.Tags.All()))
		if j.Tags != nil {
			seen[j.Tags] = true
		}
	}
	return keys, len(seen), nil
}

func TestTagColumns(t *testing.T) {
	const csv = "submit,gpus,run_s,tag_team,TAG:Env,tag_a=b,project\n1,1,1,lab,prod,x,search\n2,1,1,lab,prod,y,\n3,1,1,,,z,\n"
	for _, c := range []struct {
		wishes []TagWish
		want   string
		sets   int
	}{
		{nil, "[[{Env prod} {team lab}] [{Env prod} {team lab}] []]", 1},
		{[]TagWish{{Name: "project"}}, "[[{project search}] [] []]", 1},
		{[]TagWish{{Name: "env"}, {Name: "who", Column: "tag_team"}}, "[[{env prod} {who lab}] [{env prod} {who lab}] []]", 1},
		{[]TagWish{{Name: "gpus"}}, "[[{gpus 1}] [{gpus 1}] [{gpus 1}]]", 1},
	} {
		keys, sets, err := readTags(csv, Options{Tags: c.wishes})
		if got := fmt.Sprint(keys); err != nil || got != c.want || sets != c.sets {
			t.Errorf("%v: got %s, %d sets, %v; want %s", c.wishes, got, sets, err, c.want)
		}
	}
	const jsonl = `{"submit":1,"gpus":1,"run_s":1,"team":"x","tag_team":"lab","tag:env":"prod"}
{"submit":2,"gpus":1,"run_s":1,"tag_team":"lab","tag:env":"prod"}
{"submit":3,"gpus":1,"run_s":1,"team":"x"}
`
	for _, c := range []struct {
		wishes []TagWish
		want   string
	}{
		{nil, "[[{env prod} {team lab}] [{env prod} {team lab}] []]"},
		{[]TagWish{{Name: "team"}}, "[[{team lab}] [{team lab}] [{team x}]]"},
		{[]TagWish{{Name: "t", Column: "team"}}, "[[{t x}] [] [{t x}]]"},
	} {
		keys, _, err := readTags(jsonl, Options{Format: "jsonl", Tags: c.wishes})
		if got := fmt.Sprint(keys); err != nil || got != c.want {
			t.Errorf("%v: got %s, %v; want %s", c.wishes, got, err, c.want)
		}
	}
}

// Whatever columns and wishes there are, a job has at most MaxTags clean tags, and a file written
// from what was read reads back the same.
func FuzzTagColumns(f *testing.F) {
	f.Add("submit,gpus,run_s,tag_team,tag:env\n1,1,1,lab,prod\n2,1,1,,\n", "")
	f.Add("submit,gpus,run_s,Account\n1,1,1,\x01lab\n2,1,1,\"a,b\"\n", "project:Account")
	f.Add(`{"submit":1,"gpus":1,"run_s":1,"tag_x":"y"}`, "x,submit")
	f.Add("JobID|Submit|Start|End|AllocTRES|WCKey\n1|5|6|9|gres/gpu=1|*a\n", "WCKey")
	f.Fuzz(func(t *testing.T, text, wishes string) {
		tags, err := parseTags([]string{wishes})
		if err != nil {
			return
		}
		r, err := Open(Input{Name: "jobs", R: strings.NewReader(text)}, Options{Tags: tags})
		if err != nil {
			return
		}
		var jobs []capcli.Job
		for j, err := range r.Jobs() {
			if err != nil {
				return
			}
			if n := len(j.Tags.All()); n > capcli.MaxTags {
				t.Fatalf("a job has %d tags", n)
			}
			for _, tag := range j.Tags.All() {
				if clean, cut := capcli.CleanTag(tag.Value, capcli.MaxTagValue); clean != tag.Value || cut || capcli.CheckTagName(tag.Name) != "" {
					t.Fatalf("tag %q", tag)
				}
			}
			jobs = append(jobs, j)
		}
		var x Extra
		if err := x.AddAll(jobsOneByOne(jobs)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := WriteCSV(&out, jobsOneByOne(jobs), x); err != nil {
			return
		}
		keys, _, err := readTags(out.String(), Options{Format: "csv"})
		if err != nil {
			t.Fatalf("%v:\n%s", err, out.String())
		}
		for i := range jobs {
			if want := fmt.Sprint(jobs[i].Tags.All()); keys[i] != want {
				t.Fatalf("job %d: got %s, want %s\n%s", i, keys[i], want, out.String())
			}
		}
	})
}

// Reading tags allocates for each different set, not for each job.
func TestTagsAllocatePerSet(t *testing.T) {
	log := func(tagged bool) string {
		var b strings.Builder
		b.WriteString("job_id,submit,gpus,run_s,tag_project,tag_team\n")
		for i := range 20_000 {
			project, team := "", ""
			if tagged {
				project, team = fmt.Sprint("p", i%7), fmt.Sprint("t", i%3)
			}
			fmt.Fprintf(&b, "%d,%d,1,60,%s,%s\n", i, 1000+i, project, team)
		}
		return b.String()
	}
	count := func(text string) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := Describe(mustOpen(t, text).Jobs(), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	with, without := count(log(true)), count(log(false))
	if with-without > 400 {
		t.Errorf("20,000 jobs with 21 sets of tags allocate %.0f times, without tags %.0f times", with, without)
	}
}

func mustOpen(t *testing.T, text string) *Reader {
	t.Helper()
	r, err := Open(Input{Name: "jobs", R: strings.NewReader(text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
