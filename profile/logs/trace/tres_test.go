package trace

import (
	"testing"

	"capcli"
)

func TestParseTRES(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     tres
	}{
		{"typed and untyped count the same", "billing=4,cpu=4,gres/gpu:h100=4,gres/gpu=4,mem=800M,node=2", tres{4, "h100", 1, 4000, 800}},
		{"typed only", "cpu=2,gres/gpu:a100=2,gres/gpu:v100=1", tres{3, "a100", 2, 2000, 0}},
		{"untyped is more than one type", "gres/gpu=3,gres/gpu:v100=1", tres{3, "v100", 1, 0, 0}},
		{"other gres", "gres/gpumem=40G,gres/gpuutil=50,gres/shard=2,gres/mps=100,mem=62.50G", tres{0, "", 0, 0, 64000}},
		{"empty", "", tres{}},
		{"terabytes", "mem=1.5T", tres{0, "", 0, 0, 1572864}},
	} {
		got, bad := parseTRES([]byte(c.in))
		if got != c.want || bad != flawless {
			t.Errorf("%s: got %+v %q, want %+v", c.name, got, bad, c.want)
		}
	}
	if _, bad := parseTRES([]byte("gres/gpu=-1")); bad != negative {
		t.Errorf("negative GPUs: got %q", bad)
	}
}

func TestParseGRES(t *testing.T) {
	for _, c := range []struct {
		in    string
		gpus  int64
		model string
	}{
		{"gpu:2", 2, ""},
		{"gpu:tesla:2", 2, "tesla"},
		{"gpu:a100:4(S:0-1)", 4, "a100"},
		{"gres:gpu:a40:1,craynetwork:2", 1, "a40"},
		{"PER_NODE:gpu:8", 8, ""},
		{"gpu", 1, ""},
		{"craynetwork:1", 0, ""},
		{"", 0, ""},
	} {
		got, bad := parseGRES([]byte(c.in))
		if got.gpus != c.gpus || got.model != c.model || bad != flawless {
			t.Errorf("%q: got %+v %q, want %d %q", c.in, got, bad, c.gpus, c.model)
		}
	}
}

func TestReqMem(t *testing.T) {
	for _, c := range []struct {
		in          string
		nodes, cpus int64
		want        int64
	}{
		{"31000M", 4, 8, 31000},
		{"48000Mn", 2, 8, 96000},
		{"4Gc", 2, 8, 32768},
		{"2147486648Mn", 1, 8, 0},
		{"128G", 1, 8, 131072},
		{"?", 1, 8, 0},
		{"", 1, 8, 0},
	} {
		if got := reqMem([]byte(c.in), c.nodes, c.cpus*1000); got != c.want {
			t.Errorf("%q: got %d, want %d", c.in, got, c.want)
		}
	}
}

func TestSlurmLength(t *testing.T) {
	for _, c := range []struct {
		in   string
		want capcli.Seconds
		bad  flaw
	}{
		{"00:00:24", 24, ""},
		{"10-13:27:06", 912426, ""},
		{"37-14:00:00", 3247200, ""},
		{"22:53.824", 1373, ""},
		{"1-00", 0, notTime},
		{"2-03:04", 183840, ""},
		{"UNLIMITED", 0, notTime},
		{"Partition_Limit", 0, notTime},
		{"", 0, missing},
	} {
		got, bad := slurmLength([]byte(c.in))
		if got != c.want && bad == flawless || bad != c.bad {
			t.Errorf("%q: got %d %q, want %d %q", c.in, got, bad, c.want, c.bad)
		}
	}
}
