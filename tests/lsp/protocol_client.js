// The client library of VS Code over the wire: starts the server, opens a document, and prints what it was told as JSON.
const { spawn } = require('node:child_process')
const { pathToFileURL } = require('node:url')
const rpc = require('vscode-languageserver-protocol/node')

const [folder, file, ...command] = process.argv.slice(2)
const server = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
const connection = rpc.createProtocolConnection(
  new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin),
)
const text = '# 😀\r\n\r\n[x](gone.md) and [y](other.md)\r\n'
const uri = pathToFileURL(file).href
const root = { uri: pathToFileURL(folder).href, name: 'project' }

function diagnosed(wanted) {
  return new Promise((resolve) => {
    connection.onNotification(rpc.PublishDiagnosticsNotification.type, (told) => {
      if (told.uri === uri && told.diagnostics.length === wanted) resolve(told)
    })
  })
}

async function main() {
  connection.listen()
  const seen = {}
  const begun = await connection.sendRequest(rpc.InitializeRequest.type, {
    processId: process.pid,
    rootUri: root.uri,
    workspaceFolders: [root],
    capabilities: { workspace: { workspaceEdit: { documentChanges: true } } },
  })
  seen.server = begun.serverInfo
  await connection.sendNotification(rpc.InitializedNotification.type, {})
  const first = diagnosed(1)
  await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'markdown', version: 1, text },
  })
  seen.first = (await first).diagnostics.map((each) => [each.code, each.range, each.severity])
  const position = { line: 2, character: 25 }
  seen.definition = await connection.sendRequest(rpc.DefinitionRequest.type, { textDocument: { uri }, position })
  seen.symbols = await connection.sendRequest(rpc.DocumentSymbolRequest.type, { textDocument: { uri } })
  const range = { start: { line: 2, character: 0 }, end: { line: 2, character: 5 } }
  const asked = { textDocument: { uri }, range, context: { diagnostics: [] } }
  seen.actions = (await connection.sendRequest(rpc.CodeActionRequest.type, asked)).map((each) => each.title)
  const none = diagnosed(0)
  await connection.sendNotification(rpc.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line: 2, character: 4 }, end: { line: 2, character: 8 } }, text: 'other' }],
  })
  seen.version = (await none).version
  await connection.sendRequest(rpc.ShutdownRequest.type)
  const ended = new Promise((resolve) => server.on('exit', resolve))
  await connection.sendNotification(rpc.ExitNotification.type)
  seen.status = await ended
  process.stdout.write(JSON.stringify(seen))
}

main().then(() => process.exit(0), (error) => {
  process.stderr.write(String(error && error.stack))
  process.exit(1)
})
