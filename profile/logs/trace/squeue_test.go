package trace

import (
	"reflect"
	"strings"
	"testing"

	"capcli"
)

const (
	queueText = `JOBID|STATE|USER|ACCOUNT|PARTITION|SUBMIT_TIME|START_TIME|TIME_LIMIT|TIME|NODES|CPUS|TRES_PER_NODE|PRIORITY|NODELIST
27|RUNNING|eve|lab|gpu|1767600000|1767600060|1:00:00|1:05|2|16|gres/gpu:h100:2|4294901759|n[1-2]
30_[0-2,7%2]|PENDING|bob|lab|gpu|1767600010|1767607000|10:00|0:00|1|4|gres/gpu:1|100|
31|PENDING|bob|lab|gpu|1767600020|N/A|UNLIMITED|0:00|1|4|N/A|100|
32|RUNNING|bob|lab|cpu|1767600020|1767600030|UNLIMITED|2:00|1|4|N/A|0.5|n3
33|RUNNING|bob|lab|cpu|1767600020|N/A|5:00|2:00|1|4|N/A|100|n3
`
	queueJSON = `{"meta":{},"jobs":[
{"job_id":27,"job_state":["RUNNING"],"user_name":"eve","account":"lab","partition":"gpu","submit_time":{"set":true,"infinite":false,"number":1767600000},"start_time":{"set":true,"number":1767600060},"time_limit":{"set":true,"infinite":false,"number":60},"priority":{"set":true,"number":4294901759},"node_count":{"set":true,"number":2},"nodes":"n[1-2]","cpus":{"set":true,"number":16},"tres_alloc_str":"cpu=16,gres/gpu=4,gres/gpu:h100=4"},
{"job_id":30,"job_state":"PENDING","user_name":"bob","account":"lab","partition":"gpu","submit_time":1767600010,"start_time":1767607000,"time_limit":10,"priority":100,"node_count":1,"cpus":4,"tres_req_str":"cpu=4,gres/gpu=1","array_job_id":30,"array_task_string":"0-2,7%2"},
{"job_id":31,"job_state":"PENDING","submit_time":1767600020,"time_limit":{"set":false,"infinite":true,"number":0},"tres_req_str":"cpu=4"}
]}`
	nodesText = `NODELIST|CPUS|MEMORY|GRES|STATE
n1|16|2000|gpu:h100:2(S:0-1)|mix
n1|16|2000|gpu:h100:2(S:0-1)|mix
n[2-3]|16|2000|gpu:h100:2|idle
n4|16|2000|gpu:a100:4,gpu:h100:1|alloc
n5|16|2000|gpu:h100:2|drng
n6|16|2000|gpu:h100:2|idle*
c1|64|9000+|(null)|idle
`
	nodesOld = `{"nodes":[{"name":"n1","state":"mixed","state_flags":[],"cpus":16,"real_memory":2000,"gres":"gpu:h100:2(S:0-1)"},{"name":"n5","state":"idle","state_flags":["DRAIN"],"cpus":16,"real_memory":2000,"gres":"gpu:h100:2"}]}`
	nodesNew = `{"sinfo":[{"port":1,"node":{"state":["MIXED"]},"nodes":{"total":2,"nodes":["n1","n2"]},"cpus":{"minimum":16,"maximum":16,"total":32},"memory":{"maximum":2000},"gres":{"total":"gpu:h100:2","used":"gpu:h100:1"}},
{"node":{"state":["IDLE","DRAIN"]},"nodes":{"nodes":["n5"]},"cpus":{"maximum":16},"memory":{"maximum":2000},"gres":{"total":"gpu:h100:2"}}]}`
)

func TestQueueNow(t *testing.T) {
	for name, text := range map[string]string{"text": queueText, "json": queueJSON} {
		jobs, rep := readAll(t, []byte(text), Options{})
		var got []string
		for _, j := range jobs {
			got = append(got, strings.Join([]string{j.ID, j.Tenant, j.Partition, j.State, j.Run.String(), j.Start.String(), j.GPUModel, strings.Repeat("g", j.GPUs)}, " "))
		}
		want := []string{"27 lab gpu RUNNING 1h00m 2026-01-05T08:01:00Z h100 gggg"}
		for _, task := range []string{"0", "1", "2", "7"} {
			want = append(want, "30_"+task+" lab gpu PENDING 10 min   g")
		}
		rejected := int64(1)
		if name == "text" {
			want, rejected = append(want, "32 lab cpu RUNNING 2 min 2026-01-05T08:00:30Z  "), 2
		}
		if !reflect.DeepEqual(got, want) || rep.Format != "squeue" || rep.Rejected != rejected {
			t.Errorf("%s: got %q\nwant %q\n%+v", name, got, want, rep)
		}
		if jobs[0].Limit != 3600 || jobs[0].Priority != 4294901759 || jobs[0].CPUMilli != 16000 || jobs[1].Start != capcli.NoTime {
			t.Errorf("%s: got %+v", name, jobs[:2])
		}
	}
}

// A listing with blanks, and a limit told by when the job would end.
func TestQueueColumns(t *testing.T) {
	const text = `   JOBID ST SUBMIT_TIME START_TIME END_TIME NODES TRES_PER_NODE NODELIST(REASON)
  7 PD 1767600000 1767700000 1767700090 2 gpu:2 (Resources, Priority)
  8 R 1767600000 1767600010 1767603610 1 gpu n1
  9 R 1767600000 1767600010 1767603610 1
`
	jobs, rep := readAll(t, []byte(text), Options{})
	if len(jobs) != 2 || jobs[0].Run != 90 || jobs[0].GPUs != 4 || jobs[1].Run != 3600 || jobs[1].GPUs != 1 || rep.Rejected != 1 {
		t.Errorf("got %+v, %+v", jobs, rep)
	}
}

func TestNodes(t *testing.T) {
	for _, tt := range []struct{ name, text, want, note string }{
		{"text", nodesText, "c1 64000 9000 0 |n1 16000 2000 2 h100|n2 16000 2000 2 h100|n3 16000 2000 2 h100|n4 16000 2000 5 a100", "2 nodes with 4 GPUs are down"},
		{"22.05", nodesOld, "n1 16000 2000 2 h100", "1 node with 2 GPUs are down"},
		{"23.02", nodesNew, "n1 16000 2000 2 h100|n2 16000 2000 2 h100", "1 node with 2 GPUs are down"},
	} {
		for _, alone := range []bool{true, false} {
			var table Table
			o := Options{TablesOnly: true, Tables: func(t Table) { table = t }}
			first := tt.text
			if !alone {
				first, o.More = queueText, []Input{{Name: "sinfo", R: strings.NewReader(tt.text)}}
			}
			_, rep := readAll(t, []byte(first), o)
			var got []string
			for _, row := range table.Rows[1:] {
				got = append(got, strings.Join(row, " "))
			}
			if strings.Join(got, "|") != tt.want || table.Name != NodesTable || !strings.Contains(strings.Join(rep.Notes, "\n"), tt.note) {
				t.Errorf("%s: got %q, notes %q, want %q", tt.name, got, rep.Notes, tt.want)
			}
		}
	}
}

func TestQueueFaults(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no submit", "JOBID|ST|TIME\n7|R|1:00\n", "lacks SUBMIT_TIME; it has JOBID, ST, TIME"},
		{"no zone", strings.Replace(queueText, "1767600000", "2026-01-05T08:00:00", 1), "squeue prints local time"},
		{"no GRES", "NODELIST|CPUS|STATE\nn1|4|idle\n", "lacks GRES"},
		{"bad GRES", strings.Replace(nodesText, "gpu:h100:2|idle", "gpu:h100:x|idle", 1), "GRES: want GPUs"},
		{"bad nodes", strings.Replace(nodesText, "n[2-3]", "n[3-2]", 1), "NODELIST: want a list of nodes"},
		{"only nodes", nodesText, "there is no job in it"},
		{"all of it waits for ever", "JOBID|STATE|SUBMIT_TIME|REASON\n7|PENDING|1767600000|x\n", "all 1 rows were rejected"},
	} {
		if _, err := drain([]byte(tt.text), Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	o := Options{More: []Input{{Name: "other", R: strings.NewReader("a,b\n1,2\n")}}}
	if _, err := drain([]byte(queueText), o); err == nil || !strings.Contains(err.Error(), `other: line 1: neither what squeue nor what sinfo prints: it begins with "a,b"`) {
		t.Errorf("got %v", err)
	}
	o = Options{More: []Input{{Name: "other", R: strings.NewReader("a,b\n1,2\n")}}, Format: "csv"}
	if _, err := drain([]byte("submit,gpus,run_s\n1,2,3\n"), o); err == nil || !strings.Contains(err.Error(), "reads one file at a time") {
		t.Errorf("got %v", err)
	}
}

func TestExpandHosts(t *testing.T) {
	for list, want := range map[string]string{
		"n1": "n1", "n[1-3]": "n1 n2 n3", "n[08-11,2],x": "n08 n09 n10 n11 n2 x", "r[1-2]n[1-2]": "r1n1 r1n2 r2n1 r2n2", "a[1]-ib": "a1-ib",
		"": "", "n[1": "", "n[]": "", "n[2-1]": "", "n[1-999999999]": "", "[1-99999][1-99999]": "",
	} {
		got, ok := ExpandHosts(list)
		if strings.Join(got, " ") != want && ok || ok != (want != "") {
			t.Errorf("%s: got %q, %t", list, got, ok)
		}
	}
}

func FuzzSqueue(f *testing.F) {
	f.Add([]byte(queueJSON), true)
	f.Add([]byte(nodesText), true)
	f.Add([]byte(nodesOld), false)
	f.Add([]byte(nodesNew), false)
	fuzz(f, "squeue")
}
