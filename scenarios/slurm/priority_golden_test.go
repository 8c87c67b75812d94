package slurm

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sprio is what the command says of priorities.
type sprio struct {
	Jobs  []sprioJob
	Users []struct {
		Account, User string
		NormShares    float64 `json:"norm_shares"`
		Effective     float64 `json:"effectv_usage"`
		FairShare     float64
	} `json:"sshare"`
}

type sprioJob struct {
	ID, State string
	Priority  int64
	Total     float64
	Log       map[string]any
	Factors   []struct {
		Partition            string
		Priority             int64
		Weighted, Normalised map[string]any
		Nice                 string
	}
}

// wanted is what the references say.
type wanted struct {
	Jobs []struct {
		ID, State string
		Priority  int64
		Computed  string
		Sum       string
		Log       map[string]any
		Factors   []struct {
			Partition  string
			Priority   int64
			Weighted   map[string]any
			Normalised map[string]string
			Nice       string
		}
	}
}

// TestPriorities holds priorities and factors against sprio and the log of slurmctld.
func TestPriorities(t *testing.T) {
	dirs, _ := filepath.Glob(references + "priority/*")
	if len(dirs) == 0 {
		t.Skip("the references of slurmctld are not there: " + references)
	}
	var priorities, factors, rows, shares score
	for _, dir := range dirs {
		var a sprio
		answerOf(t, "priorities", dir, &a)
		conf, _ := os.ReadFile(dir + "/slurm.conf")
		deep := strings.Contains(string(conf), "DEPTH_OBLIVIOUS") // depends on which users slurmctld has computed before
		var want wanted
		b, err := os.ReadFile(dir + "/expected.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]*sprioJob{}
		for i := range a.Jobs {
			got[a.Jobs[i].ID] = &a.Jobs[i]
		}
		for _, w := range want.Jobs {
			g := got[w.ID]
			if g == nil {
				t.Errorf("%s: job %s is not there", dir, w.ID)
				continue
			}
			where := filepath.Base(dir) + " job " + w.ID + " " + w.State
			if !priorities.count(g.Priority == w.Priority) {
				tell := t.Errorf
				if w.State == "FAILED" || deep { // a refused job's own priority and partition are in no file; see Answer
					tell = t.Logf
				}
				tell("%s: priority %d, want %d (total %v; %s)", where, g.Priority, w.Priority, g.Total, w.Sum)
			}
			if w.Log != nil {
				checkFactors(t, where, &factors, g.Log, w.Log)
			}
			if !rows.count(len(g.Factors) == len(w.Factors)) {
				t.Logf("%s: %d rows of sprio, want %d", where, len(g.Factors), len(w.Factors))
				continue
			}
			for i, row := range w.Factors {
				have := g.Factors[i]
				for name, v := range row.Weighted {
					h := have.Weighted[name]
					if !rows.count(h == v) {
						t.Logf("%s: sprio %s %v, want %v", where, name, h, v)
					}
				}
				for name, v := range row.Normalised {
					if h, ok := have.Normalised[name]; ok && !rows.count(h == v) {
						t.Logf("%s: sprio normalised %s %v, want %v", where, name, h, v)
					}
				}
				if !rows.count(have.Priority == row.Priority && have.Nice == row.Nice) {
					t.Logf("%s: sprio of %s: %d, want %d; nice %s %s", where, row.Partition, have.Priority, row.Priority, have.Nice, row.Nice)
				}
			}
		}
		checkShares(t, dir, &shares, &a)
	}
	if priorities.agree*100 < 94*priorities.of || factors.agree*1000 < 991*factors.of || rows.agree*1000 < 995*rows.of || shares.agree*1000 < 993*shares.of {
		t.Errorf("fewer agree than before")
	}
	t.Logf("priorities %v, factors %v, fields of sprio %v, shares %v", priorities, factors, rows, shares)
}

// checkFactors compares factors to a millionth.
func checkFactors(t *testing.T, where string, n *score, got, want map[string]any) {
	if got == nil {
		n.count(false)
		t.Logf("%s: no factors", where)
		return
	}
	compare := func(name string, got, want any) {
		g, _ := got.(float64)
		if w, _ := want.(float64); !n.count(math.Abs(g-w) <= 1e-6) {
			t.Logf("%s: %s %v, want %v", where, name, g, w)
		}
	}
	for _, name := range []string{"age", "assoc", "fairshare", "jobsize", "partition", "qos"} {
		compare(name, got[name], want[name])
	}
	have, _ := got["tres"].(map[string]any)
	tres, _ := want["tres"].(map[string]any)
	if !n.count(len(have) == len(tres)) {
		t.Logf("%s: tres %v, want %v", where, have, tres)
	}
	for name, v := range tres {
		compare(name, have[name], v)
	}
}

// checkShares compares with sshare to two millionths.
func checkShares(t *testing.T, dir string, n *score, a *sprio) {
	b, err := os.ReadFile(dir + "/sshare.psv")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		c := strings.Split(line, "|")
		rows[strings.TrimSpace(c[0])+"/"+c[1]] = c
	}
	for _, u := range a.Users {
		row := rows[u.Account+"/"+u.User]
		if row == nil {
			t.Logf("%s: no share of %s %s", dir, u.Account, u.User)
			n.count(false)
			continue
		}
		for i, v := range map[int]float64{3: u.NormShares, 6: u.Effective, 7: u.FairShare} {
			want, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				continue
			}
			if !n.count(math.Abs(want-v) <= 2e-6) {
				t.Logf("%s: %s/%s column %d: %v, want %v", filepath.Base(dir), u.Account, u.User, i, v, want)
			}
		}
	}
}
