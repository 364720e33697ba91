// The template oracle: what Go's own text/template makes of a template and its data.
//
// In: JSON lines {"template": string, "data": any} on stdin. Out: one JSON line for each, in order: {"out": string},
// or {"parse_error": string, "line": int}, or {"exec_error": string, "line": int}. Nothing else is read or written.
//
// An integer token becomes an int and every other number a float64 (X12). The functions that markdownlang adds to Go's
// own (L26) are the plain ones of package strings, so that the answers show what X12 and X14 change.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

const templateName = "the template"

var place = regexp.MustCompile(`^template: ` + templateName + `:([0-9]+)`)

type question struct {
	Template string          `json:"template"`
	Data     json.RawMessage `json:"data"`
}

type answer struct {
	Out        *string `json:"out,omitempty"`
	ParseError string  `json:"parse_error,omitempty"`
	ExecError  string  `json:"exec_error,omitempty"`
	Line       int     `json:"line,omitempty"`
}

var added = template.FuncMap{
	"upper": strings.ToUpper,
	"lower": strings.ToLower,
	"title": strings.Title,
	"join":  strings.Join,
	"split": strings.Split,
	"default": func(fallback, value any) any {
		if isTrue, _ := template.IsTrue(value); isTrue {
			return value
		}
		return fallback
	},
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	answers.SetEscapeHTML(false)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var asked question
			if wrong := json.Unmarshal(line, &asked); wrong != nil {
				fmt.Fprintf(os.Stderr, "line %d: %v\n", number, wrong)
				os.Exit(1)
			}
			if wrong := answers.Encode(ask(asked)); wrong != nil {
				fmt.Fprintf(os.Stderr, "line %d: %v\n", number, wrong)
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}

// ask renders one template. A panic of the template package counts as an error of the rendering.
func ask(asked question) (given answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			given = answer{ExecError: fmt.Sprint("panic: ", panicked)}
		}
	}()
	parsed, err := template.New(templateName).Funcs(added).Parse(asked.Template)
	if err != nil {
		return answer{ParseError: err.Error(), Line: lineOf(err)}
	}
	var out strings.Builder
	if err := parsed.Execute(&out, decode(asked.Data)); err != nil {
		return answer{ExecError: err.Error(), Line: lineOf(err)}
	}
	text := out.String()
	return answer{Out: &text}
}

func lineOf(err error) int {
	found := place.FindStringSubmatch(err.Error())
	if found == nil {
		return 0
	}
	line, _ := strconv.Atoi(found[1])
	return line
}

func decode(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	return numbered(value)
}

// numbered puts an int or a float64 in place of every number as it was written.
func numbered(value any) any {
	switch value := value.(type) {
	case json.Number:
		if number, err := strconv.Atoi(value.String()); err == nil {
			return number
		}
		number, _ := value.Float64()
		return number
	case []any:
		for at, element := range value {
			value[at] = numbered(element)
		}
	case map[string]any:
		for key, element := range value {
			value[key] = numbered(element)
		}
	}
	return value
}
