package replay

import (
	"encoding/json"
	"testing"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
)

// FuzzExplainPlan holds that any file is either explained or refused as bad
// input, and that the answer is JSON.
func FuzzExplainPlan(f *testing.F) {
	f.Add([]byte(`{"schema":"capcli/plan/v1"}`))
	f.Add([]byte(`{"schema":"capcli/plan_mix/v1","hold_share":0.95,"runs":2,"best":{"mix":1,"cost_usd":"2.00"},"plans":[{"mix":2,"cost_usd":"1.00","limits":[{"limit":"wait_p95 <= 20m","beyond_by":5,"held_share":0.5}]},null],"marginal":[{"best":true,"saved_usd":"1.00"}],"sensitivity":[{"difference_usd":"-9223372036854.775808"}]}`))
	f.Add([]byte(`{"schema":"capcli/plan_mix/v1","best":{"cost_usd":"2.00"},"marginal":[{"best":true,"saved_usd":"1.00"},{"saved_usd":"1.00"}]}`))
	f.Add([]byte(`{"schema":"capcli/plan_mix/v1","binding_limit":"cost <= 1","closest":{"mix":3}}`))
	f.Add([]byte(`{"schema":"capcli/plan_futures/v1","risk":"p80","plans":[{"plan":"a","cost_p80_usd":"3.00"},{"plan":"b","mean_cost_usd":null}],"waiting":{"for":"1y"}}`))
	f.Add([]byte(`{"schema":"capcli/plan/v1","demand":{"end":"2028-01-01T00:00:00Z"},"market":{"on_demand":[{"from":0,"usd_per_gpu_hour":"1.00"}],"terms":[{"term":"a","length":"3mo","prices":[{"from":"2027-01-01T00:00:00Z","usd_per_gpu_hour":"0.5"}]}],"lot_gpus":1},"optimum":{"cost_usd":"3.00","purchases":[{"term":"a","gpus":2,"cost_usd":"1.00"}]},"periods":[{"start":"2027-01-01T00:00:00Z","worth_of_one_more_usd":"2.00"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := whyPlan("plan.json", text, nil)
		if err != nil {
			if code := shell.ExitCode(err); code != shell.ExitInput && code != shell.ExitFailed {
				t.Fatalf("%v ends with %d", err, code)
			}
			return
		}
		if _, err := json.Marshal(d); err != nil {
			t.Fatal(err)
		}
		_ = tables.RationaleDoc(d)
	})
}
