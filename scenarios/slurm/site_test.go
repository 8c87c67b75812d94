package slurm

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"capcli"
)

// readFolder reads a folder.
func readFolder(t testing.TB, dir string) texts {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := texts{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

// texts are the files of a folder.
type texts map[string]string

func (f texts) Names() ([]string, error) { return slices.Sorted(maps.Keys(f)), nil }

func (f texts) Read(name string, _ int64) ([]byte, error) { return []byte(f[name]), nil }

func TestRead(t *testing.T) {
	s, err := readSite(readFolder(t, "testdata/small"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 3 || s.Nodes[2].CPUs != 32 || s.Nodes[0].GPUs != 4 || s.Nodes[2].MemMB != 64000 {
		t.Errorf("nodes %+v", s.Nodes)
	}
	gpu := s.findPartition("gpu")
	if gpu == nil || gpu.MaxTime != 86400 || gpu.Total["cpu"] != 32 || gpu.Total["billing"] != 96 || gpu.Total["gres/gpu:a100"] != 8 {
		t.Errorf("partition gpu %+v", gpu)
	}
	if cat := s.findUser("shop", "cat"); cat == nil || cat.Shares != parentShares || cat.usage != 1_000_000 || cat.Parent.GrpTRES["gres/gpu"] != 4 {
		t.Errorf("user cat %+v", cat)
	}
	if j := s.Jobs[0]; j.TRES["mem"] != 64000 || j.Limit != 14400 || j.Accrue != 1_700_000_000 {
		t.Errorf("job %+v", j)
	}
	if q := s.findQOS("fast"); q.GrpTRES["gres/gpu"] != 4 || q.MaxJobsUser != 2 || q.MaxJobsGroup != -1 || !q.mayPreempt(s.findQOS("normal")) {
		t.Errorf("qos %+v", q)
	}
	for field, effect := range map[string]string{"PriorityWeightAge": "", "SlurmctldPort": "nothing that starts or orders jobs", "PrioritySiteFactorPlugin": "the site factor of priorities", "MaxSubmitPU": "jobs refused at submission: the log has those that were taken"} {
		found := false
		for _, l := range s.Account {
			if l.Field == field {
				found = true
				if l.Effect != effect || l.Used != (effect == "") {
					t.Errorf("%s: %+v, want the effect %q", field, l, effect)
				}
			}
		}
		if !found {
			t.Errorf("%s is not accounted for", field)
		}
	}
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]int64{"10": 600, "1:30": 90, "1:00:00": 3600, "1-0": 86400, "1-12": 129600, "1-12:30": 131400, "2-00:00:01": 172801, "UNLIMITED": 0} {
		if got, ok := parseLimit(text); !ok || got != want {
			t.Errorf("parseLimit(%q) = %d %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "1:2:3:4", "-1", "1-x"} {
		if got, ok := parseLimit(text); ok {
			t.Errorf("parseLimit(%q) = %d, want a refusal", text, got)
		}
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		line  int
		field string
	}{
		"no nodes": {"ClusterName=x\n", 0, ""},
		"no =":     {"ClusterName=x\nNodeName=n1 CPUs\n", 2, "CPUs"},
		"number":   {"NodeName=n1 CPUs=many\n", 1, "cpus"},
		"twice":    {"NodeName=n1\nPartitionName=a Nodes=n1\nPartitionName=a\n", 3, "PartitionName"},
		"include":  {"Include other.conf\n", 1, "Include"},
		"loop":     {"Include slurm.conf\n", 0, "Include"},
	} {
		_, err := readSite(texts{"slurm.conf": c.text})
		var in *capcli.InputError
		if !errors.As(err, &in) || in.Line != c.line || in.Field != c.field {
			t.Errorf("%s: %v, want line %d, field %q", name, err, c.line, c.field)
		}
	}
}

// FuzzRead holds that no file makes the reader panic, and that what is read is within bounds.
func FuzzRead(f *testing.F) {
	for name, text := range readFolder(f, "testdata/small") {
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name, content string) {
		s, err := readSite(texts{"a/slurm.conf": "NodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL\n", name: content})
		if err != nil {
			return
		}
		for _, p := range s.Partitions {
			if p.Factor < 0 || p.Tier < 0 || p.Total["cpu"] < 0 {
				t.Errorf("partition %+v", p)
			}
		}
	})
}
