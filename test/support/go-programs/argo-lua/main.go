// Runs Argo CD's health checks as Argo CD does: a Lua script, the object as the global obj, the same few libraries, and a second of
// time (argo-cd/util/lua/lua.go, with its default useOpenLibs=false).
//
// Reads one {"script":"…","object":{…}} in JSON per line. Answers each with one line: {"status":"Healthy","message":"…"}, or
// {"error":"…"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type question struct {
	Script string         `json:"script"`
	Object map[string]any `json:"object"`
}

type answer struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "argo-lua:", err)
		os.Exit(2)
	}
}

func answerAll() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		said, err := judge(asked)
		if err != nil {
			said = answer{Error: err.Error()}
		}
		if err := out.Encode(said); err != nil {
			return err
		}
	}
	return lines.Err()
}

func judge(asked question) (answer, error) {
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		call := lua.P{Fn: vm.NewFunction(library.open), NRet: 0, Protect: true}
		if err := vm.CallByParam(call, lua.LString(library.name)); err != nil {
			return answer{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	vm.SetContext(ctx)
	vm.SetGlobal("obj", valueOf(vm, asked.Object))
	if err := vm.DoString(asked.Script); err != nil {
		return answer{}, err
	}
	table, ok := vm.Get(-1).(*lua.LTable)
	if !ok {
		return answer{}, fmt.Errorf("the script returns %s, not a table", vm.Get(-1).Type())
	}
	return answer{Status: lua.LVAsString(table.RawGetString("status")), Message: lua.LVAsString(table.RawGetString("message"))}, nil
}

func valueOf(vm *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		list := vm.NewTable()
		for _, item := range value {
			list.Append(valueOf(vm, item))
		}
		return list
	case map[string]any:
		table := vm.NewTable()
		for key, item := range value {
			table.RawSetString(key, valueOf(vm, item))
		}
		return table
	}
	return lua.LNil
}
