-- Neovim, headless: opens a document, waits for what is wrong in it, applies a fix, formats, asks where a link leads.
-- What it saw is written as JSON to the file that PROSA_SEEN names.
local seen = {}
local function finish()
  local file = assert(io.open(os.getenv('PROSA_SEEN'), 'w'))
  file:write(vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen))
  file:close()
  vim.cmd('qall!')
end

local function rules()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, each.code)
  end
  table.sort(found)
  return table.concat(found, ' ')
end

local function wait_for(wanted)
  return vim.wait(60000, function() return rules() == wanted end, 20)
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000) or {}
  for _, answer in pairs(answers) do
    return answer.result
  end
end

local ok, problem = pcall(function()
  vim.cmd('edit ' .. vim.fn.fnameescape(os.getenv('PROSA_FILE')))
  local client = vim.lsp.start_client({
    name = 'prosa',
    cmd = vim.fn.json_decode(os.getenv('PROSA_COMMAND')),
    root_dir = os.getenv('PROSA_ROOT'),
  })
  vim.lsp.buf_attach_client(0, client)
  seen.first = wait_for('unresolved-link unused-suppression') and rules()
  local params = vim.lsp.util.make_given_range_params({ 1, 0 }, { vim.fn.line('$'), 0 })
  params.context = { diagnostics = {} }
  seen.actions = {}
  for _, action in ipairs(ask('textDocument/codeAction', params)) do
    table.insert(seen.actions, action.title)
    if action.isPreferred then
      vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
    end
  end
  seen.fixed = wait_for('unresolved-link') and rules()
  seen.text = vim.fn.join(vim.fn.getline(1, '$'), '\n')
  vim.fn.setline(1, '😀 [x](other.md)')
  seen.typed = wait_for('') and rules() == ''
  local place = vim.lsp.util.make_text_document_params()
  local found = ask('textDocument/definition', { textDocument = place, position = { line = 0, character = 8 } })
  seen.target = found and found[1] and vim.uri_to_fname(found[1].uri or found[1].targetUri)
  seen.offset_encoding = vim.lsp.get_client_by_id(client).offset_encoding
  vim.lsp.stop_client(client)
  seen.stopped = vim.wait(60000, function() return vim.lsp.get_client_by_id(client) == nil end, 20)
end)
if not ok then
  seen.problem = tostring(problem)
end
finish()
