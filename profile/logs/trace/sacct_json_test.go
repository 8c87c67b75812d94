package trace

import (
	"reflect"
	"strings"
	"testing"
)

// The same five jobs as three versions of Slurm print them, and as sacct -P does: one that ended, a task of an
// array without a limit, a component of a heterogeneous job, one that waits, and one that was cancelled.
const (
	sacctLines = `JobID|Cluster|Account|User|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|Priority|AllocNodes|NodeList|AllocTRES|ReqTRES
7|box|lab|eve|gpu|COMPLETED|1767600000|1767600030|1767600060|1767603660|3600|120|4294901759|2|n[1-2]|cpu=16,mem=2048M,node=2,gres/gpu=8,gres/gpu:a100=8|cpu=16
5_3|box|lab|eve|gpu|FAILED|1767600001|1767600001|1767600060|1767600070|10||5|1|n1|cpu=1,gres/gpu=1|cpu=1
11+1|box|lab|bob|gpu|TIMEOUT|1767600002|1767600002|1767600060|1767600120|60|1|5|1|n2|cpu=1,gres/gpu=1|cpu=1
12|box|lab|bob|gpu|PENDING|1767600003||||0|60|5|0|None assigned||cpu=4,gres/gpu=4
13|box|lab|bob|gpu|CANCELLED|1767600004|1767600004||1767600009|0|60|5|0|None assigned||cpu=4,gres/gpu=4
`
	sacctOld = `{"meta":{"plugin":{"type":"openapi\/dbv0.0.37","name":"Slurm OpenAPI DB v0.0.37"},"Slurm":{"version":{"major":22},"release":"22.05.8"}},
 "errors":[],
 "jobs":[
  {"account":"lab","array":{"job_id":0,"task":null,"task_id":null},"cluster":"box","het":{"job_id":0,"job_offset":null},"job_id":7,"allocation_nodes":2,"nodes":"n[1-2]","partition":"gpu","priority":4294901759,"state":{"current":"COMPLETED","reason":"None"},"user":"eve","steps":[{"step":{"id":"7.batch"},"time":{"start":1}}],
   "time":{"elapsed":3600,"eligible":1767600030,"end":1767603660,"start":1767600060,"submission":1767600000,"suspended":0,"limit":120},"tres":{"allocated":[{"type":"cpu","name":null,"id":1,"count":16},{"type":"mem","name":null,"id":2,"count":2048},{"type":"node","name":null,"id":4,"count":2},{"type":"gres","name":"gpu","id":1001,"count":8},{"type":"gres","name":"gpu:a100","id":1002,"count":8}],"requested":[{"type":"cpu","name":null,"id":1,"count":16}]}},
  {"account":"lab","array":{"job_id":5,"task":null,"task_id":3},"cluster":"box","het":{"job_id":0},"job_id":8,"allocation_nodes":1,"nodes":"n1","partition":"gpu","priority":5,"state":{"current":"FAILED"},"user":"eve","time":{"elapsed":10,"eligible":1767600001,"end":1767600070,"start":1767600060,"submission":1767600001,"limit":null},"tres":{"allocated":[{"type":"cpu","count":1},{"type":"gres","name":"gpu","count":1}],"requested":[{"type":"cpu","count":1}]}},
  {"account":"lab","array":{"job_id":0,"task_id":null},"cluster":"box","het":{"job_id":11,"job_offset":1},"job_id":12,"allocation_nodes":1,"nodes":"n2","partition":"gpu","priority":5,"state":{"current":"TIMEOUT"},"user":"bob","time":{"elapsed":60,"eligible":1767600002,"end":1767600120,"start":1767600060,"submission":1767600002,"limit":1},"tres":{"allocated":[{"type":"cpu","count":1},{"type":"gres","name":"gpu","count":1}],"requested":[]}},
  {"account":"lab","array":{"job_id":0,"task_id":null},"cluster":"box","job_id":12,"allocation_nodes":0,"nodes":"None assigned","partition":"gpu","priority":5,"state":{"current":"PENDING"},"user":"bob","time":{"elapsed":0,"eligible":0,"end":0,"start":0,"submission":1767600003,"limit":60},"tres":{"allocated":[],"requested":[{"type":"cpu","count":4},{"type":"gres","name":"gpu","count":4}]}},
  {"account":"lab","array":{"job_id":0,"task_id":null},"cluster":"box","job_id":13,"allocation_nodes":0,"nodes":"None assigned","partition":"gpu","priority":5,"state":{"current":"CANCELLED"},"user":"bob","time":{"elapsed":0,"eligible":1767600004,"end":1767600009,"start":0,"submission":1767600004,"limit":60},"tres":{"allocated":[],"requested":[{"type":"cpu","count":4},{"type":"gres","name":"gpu","count":4}]}}
 ]}`
)

// sacctNew returns sacctOld in the shapes of newer versions: numbers in objects, states in lists.
func sacctNew() string {
	number := func(n string) string { return `{"set":true,"infinite":false,"number":` + n + `}` }
	pairs := []string{
		`"limit":null`, `"limit":{"set":false,"infinite":true,"number":0}`, `"task_id":null`, `"task_id":{"set":false,"infinite":false,"number":0}`,
		`"job_offset":null`, `"job_offset":{"set":false,"infinite":false,"number":0}`, `"task":null`, `"task":""`, `"name":null`, `"name":""`,
		`"task_id":3`, `"task_id":` + number("3"), `"job_offset":1`, `"job_offset":` + number("1"),
	}
	for _, n := range []string{"120", "60", "1"} {
		pairs = append(pairs, `"limit":`+n+"}", `"limit":`+number(n)+`,"planned":`+number("30")+"}")
	}
	for _, n := range []string{"4294901759", "5"} {
		pairs = append(pairs, `"priority":`+n, `"priority":`+number(n))
	}
	for _, s := range []string{"COMPLETED", "FAILED", "TIMEOUT", "PENDING", "CANCELLED"} {
		pairs = append(pairs, `"current":"`+s+`"`, `"current":["`+s+`","REQUEUED"]`)
	}
	text := strings.NewReplacer(pairs...).Replace(sacctOld)
	return strings.Replace(text, `"start":1767600060,"submission":1767600000`, `"start":`+number("1767600060")+`,"submission":`+number("1767600000"), 1)
}

func TestSacctJSON(t *testing.T) {
	want, wantRep := readAll(t, []byte(sacctLines), Options{})
	if len(want) != 3 || wantRep.Rejected != 2 {
		t.Fatalf("%d jobs, %+v", len(want), wantRep)
	}
	for name, text := range map[string]string{
		"22.05": sacctOld, "25.05": sacctNew(), "array": sacctOld[strings.Index(sacctOld, `"jobs":`)+7 : len(sacctOld)-1],
	} {
		opts := Options{}
		if name == "array" {
			opts.Format = "sacct"
		}
		got, rep := readAll(t, []byte(text), opts)
		if !reflect.DeepEqual(got, want) || rep.Format != "sacct" {
			t.Errorf("%s: got %+v\nwant %+v", name, got, want)
		}
		rep.Notes = wantRep.Notes
		if !reflect.DeepEqual(rep.Tally, wantRep.Tally) {
			t.Errorf("%s: got %+v\nwant %+v", name, rep.Tally, wantRep.Tally)
		}
	}
}

func TestSacctJSONFaults(t *testing.T) {
	for _, tt := range []struct{ from, to, want string }{
		{`"start":1767600060,"submission":1767600000`, `"start":[1],"submission":1767600000`, "time.start"},
		{`"elapsed":3600`, `"elapsed":-1`, "run time: negative"},
		{`"job_id":7,`, ``, "JobID: missing"},
		{`"submission":1767600000`, `"submission":0`, "Submit: missing"},
	} {
		var reasons []string
		_, err := drain([]byte(strings.Replace(sacctOld, tt.from, tt.to, 1)), Options{Rejects: func(r Reject) { reasons = append(reasons, r.Reason) }})
		if err != nil || !strings.Contains(strings.Join(reasons, "\n"), tt.want) {
			t.Errorf("%s: got %q, %v, want %s", tt.to, reasons, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		sacctOld[:len(sacctOld)-200]:                           "is cut short: the JSON object",
		strings.Replace(sacctOld, `"jobs":[`, `"jobs":[1,`, 1): "want a JSON object, found '1'",
	} {
		if _, err := drain([]byte(text), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestJSONArray(t *testing.T) {
	lines := `{"job_id":"a","submit":100,"gpus":2,"run_s":60}` + "\n" + `{"submit":"200","gpus":1, "run_s" : 5,"x":{"y":[1]}}` + "\n" + `{"submit":5}` + "\n"
	array := "\ufeff [\n" + strings.Replace(lines, "}\n{", "}\n,{", 2) + "]\n"
	want, wantRep := readAll(t, []byte(lines), Options{})
	spread := strings.NewReplacer(":", " :\n ", ",", "\n,").Replace(array)
	for _, text := range []string{array, spread} {
		got, rep := readAll(t, []byte(text), Options{})
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(rep, wantRep) || rep.Format != "jsonl" {
			t.Errorf("%s\ngot %+v, %+v\nwant %+v, %+v", text, got, rep, want, wantRep)
		}
	}
	mapped := Options{Map: map[string]string{"submit": "when"}}
	if got, _ := readAll(t, []byte(strings.ReplaceAll(array, `"submit"`, `"when"`)), mapped); !reflect.DeepEqual(got, want) {
		t.Errorf("with a map got %+v", got)
	}
}
